#!/bin/sh
# Compiles the library's shaders with the very drivers that boards run: Debian's arm64 binaries of Mesa,
# of each release, on fake devices and under qemu. tests/boards/arm.sh fetches them where they are not
# there yet.
#
# usage: tests/check_boards_arm.sh [OPTION]...
#   -m SUITE,...  on the Mesa of these alone: bookworm, trixie, sid
#   -g GPU,...    on these alone
#   -w RUN,...    of lenet, small, resnet8, mobilenet-tiny, and tokens, keras, detector, shaped, small ONNX
#                 models, and segmenter, boxes, a network of each of these tasks (a training step each,
#                 boards/train.sh), float16, which is resnet8 with --precision float16, and check
#   -f FOLDER     the *.comp of FOLDER, as GLCNN_SHADERS writes them, instead
#   -p            closes with what a step of training is reckoned to take on boards, boards/model.py
#   -b FILE,...   with -p: sets what "glcnn bench --board" measured on boards beside it
#   -l            lists every program, the slowest to compile first
#   -s            closes with the ten shaders that a step of training spends most in, by GPU
#   -t            closes with a table of the GPUs, as Markdown
#   -n            fetches nothing: exits 77 where trixie's Mesa is not there
#
# Runs from the top of a built tree. O may be given; the drivers lie in build/boards/arm, or beside the
# folder that GLCNN_BOARDS names. The tool trains and checks on whatever driver this machine has, in the
# disguise of a GPU of each family, and so writes the sources that the library has for the family; qemu
# compiles each distinct one once for each GPU. Of check, which has thousands, that is the longest of each
# shader, with trixie's Mesa. Textures are bound as training binds them: RGBA32F, and of float16 RGBA16F. V3D
# compiles by that, and compiles the nets with both (nets16). Nothing is computed.
#
# A row for each run: programs, how many are clean, spill registers to memory, failed, hung, and the
# seconds of processor time that compiling took. Exits 1 where a program fails, hangs, or spills more than
# boards/permitted lets it, and 77 where there are no drivers.

out=${O:-build}
suites=bookworm,trixie,sid gpus='' runs=lenet,small,resnet8,mobilenet-tiny,float16,check sources=''
listed='' shaders='' table='' model='' reports='' fetch=1 workers=''
here=$(dirname "$0")/boards

# Name, family, the first and the last version of Mesa that gives it OpenGL ES 3.1, fake device, the
# setting that makes it this GPU, how the driver begins its name. The first of a family has its least limits.
all_gpus() {
    cat <<'END_OF_GPUS'
T820 midgard 22- panfrost PAN_GPU_ID=820 Mali-T820
T860 midgard 22- panfrost PAN_GPU_ID=860 Mali-T860
G31 bifrost 22- panfrost PAN_GPU_ID=7093 Mali-G31
G52 bifrost 22- panfrost PAN_GPU_ID=7212 Mali-G52
G57 bifrost 22- panfrost PAN_GPU_ID=9093 Mali-G57
G72 bifrost 22- panfrost PAN_GPU_ID=6221 Mali-G72
G310 bifrost 25- panfrost PAN_GPU_ID=ac74 Mali-G310
G610 bifrost 25- panfrost PAN_GPU_ID=a867 Mali-G610
V3D4.2 v3d 22- v3d V3D_42=1 V3D 4.2
V3D7.1 v3d 25- v3d V3D_71=1 V3D 7.1
A420 adreno 22-25 freedreno FD_GPU_ID=420 FD420
A530 adreno 22- freedreno FD_GPU_ID=530 FD530
A618 adreno 22- freedreno FD_GPU_ID=618 FD618
A660 adreno 22- freedreno FD_GPU_ID=660 FD660
A702 adreno 26- freedreno FD_GPU_ID=702 FD702
A730 adreno 25- freedreno FD_GPU_ID=730 FD730
X1-85 adreno 25- freedreno FD_GPU_ID=741 Adreno X1-85
GK20A tegra 22- nouveau NOUVEAU_CHIPSET=ea NVEA
GM20B tegra 22- nouveau NOUVEAU_CHIPSET=12b NV12B
GP10B tegra 22- nouveau NOUVEAU_CHIPSET=13b NV13B
END_OF_GPUS
}

# about GPU FIELD
about() {
    all_gpus | awk -v gpu="$1" -v field="$2" '$1 == gpu { for (i = 1; i < field; i++)
        sub(/^[^ ]* /, ""); if (field < 6) sub(/ .*/, ""); print }'
}

skip() {
    echo "$*"
    exit 77
}

read_options() {
    while getopts m:g:w:f:b:lpstn option; do
        case $option in
        m) suites=$OPTARG ;;
        g) gpus=$OPTARG ;;
        w) runs=$OPTARG ;;
        f) sources=$OPTARG ;;
        l) listed=1 ;;
        s) shaders=10 ;;
        t) table=1 ;;
        p) model=1 ;;
        b) reports=$OPTARG ;;
        n) fetch= ;;
        *) exit 2 ;;
        esac
    done
    [ -z "$sources" ] || runs=folder
}

# Leaves in suites those that are there.
find_drivers() {
    folder=$(dirname "${GLCNN_BOARDS:-$out/boards/system}")/arm
    [ -n "$fetch" ] || { [ -e "$folder/shims.made" ] && [ -e "$folder/trixie.made" ]; } ||
        skip "no arm64 Mesa with fake devices in $folder; make check-boards fetches it"
    sh "$here/arm.sh" "$folder" $(echo "$suites" | tr , ' ') || exit $?
    folder=$(cd "$folder" && pwd)
    suites=$(for suite in $(echo "$suites" | tr , ' '); do
        [ ! -e "$folder/$suite.made" ] || echo "$suite"
    done)
}

prepare() {
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    trap 'kill $workers 2>/dev/null; exit 130' INT TERM # they do not hear of Ctrl-C
    sh "$here/train.sh" "$out/glcnn" prepare "$work" || exit 1
    for name in observe disguise; do
        ${CC:-cc} -std=c11 -shared -fPIC -O1 -o "$work/$name.so" "$here/$name.c" -ldl || exit 1
    done
}

# The version of Mesa in a suite, as 25.0.7.
version() {
    zcat "$folder/$1/usr/share/doc/libgl1-mesa-dri/changelog.Debian.gz" |
        sed 's/^[^(]*(\([0-9.]*\).*/\1/;q'
}

knows() { # SUITE GPU
    versions=$(about "$2" 3) major=$(version "$1")
    [ "${major%%.*}" -ge "${versions%-*}" ] &&
        { [ -z "${versions#*-}" ] || [ "${major%%.*}" -le "${versions#*-}" ]; }
}

# on_gpu SUITE GPU RECORD ARGUMENT...: runs boards/compile.c. A processor without pointer authentication,
# because computing it would take the emulator most of the time; GALLIUM_THREAD=0, because a driver's own
# thread drops what the compiler says; shaderdb, because Adreno's says nothing unasked. A process may take half
# an hour of the processor, so that a busy machine ends none; the clock is for one that sleeps.
on_gpu() (
    root=$folder/$1 record=$3
    libraries=$root/usr/lib/aarch64-linux-gnu
    preload="$folder/$(about "$2" 4).so $folder/observe.so"
    setting=$(about "$2" 5)
    shift 3
    ulimit -t 1800
    timeout -k 5 14400 env -i qemu-aarch64-static -cpu cortex-a72 -L "$root" \
        -E "LD_LIBRARY_PATH=$libraries:$root/lib/aarch64-linux-gnu" \
        -E "LIBGL_DRIVERS_PATH=$libraries/dri" \
        -E "__EGL_VENDOR_LIBRARY_FILENAMES=$root/usr/share/glvnd/egl_vendor.d/50_mesa.json" \
        -E GALLIUM_THREAD=0 -E MESA_SHADER_CACHE_DISABLE=true -E FD_MESA_DEBUG=shaderdb \
        -E "$setting" -E "OBSERVE=$record" -E OBSERVE_SECONDS=200 -E "LD_PRELOAD=$preload" \
        "$folder/compile" "$@" </dev/null
)

# ---- Sources -------------------------------------------------------------------------------------

# in_disguise DESCRIPTION FOLDER COMMAND...: what the library compiles for that driver lies in FOLDER.
in_disguise() {
    description=$1 into=$2
    shift 2
    mkdir -p "$into"
    env -u GLCNN_DEVICE -u GLCNN_LIMITS -u GLCNN_SHADERS GLCNN_CACHE_DIR=off \
        DISGUISE="$description" OBSERVE="$into/record" OBSERVE_SOURCES="$into" \
        LD_PRELOAD="$work/observe.so $work/disguise.so" "$@" >"$into/out" 2>"$into/err" </dev/null
}

# name_sources FOLDER: lines "FOLDER/N.comp  convolution.convolution_narrow.MD5.comp  invocations".
name_sources() {
    (cd "$1" && md5sum -- *.comp) | awk -v folder="$1" 'BEGIN { FS = "\t" }
        FILENAME == "-" { split($0, part, "  "); hash[part[2] + 0] = part[1]; next }
        $1 == "link" { split($3, size, "x"); group[$2] = size[1] * size[2] * size[3] }
        $1 == "label" { name = $3; sub(/\.comp$/, "", name); gsub("/", ".", name); label[$2] = name }
        $1 == "uses" { uses[$2] = $4 }
        END { for (n in label)
            printf "%s/%d.comp\t%s.%s.comp\t%.0f\n", folder, n, label[n], hash[n], uses[n] * group[n]
        }' - "$1/record"
}

# sample FOLDER: of each shader the longest.
sample() {
    cat >"$1/names"
    cut -f1 "$1/names" | xargs wc -c | awk '
        FILENAME == "-" { size[$2] = $1; next }
        { shader = $2; sub(/\.[0-9a-f]*\.comp$/, "", shader) }
        size[$1] > most[shader] { most[shader] = size[$1]; longest[shader] = $0 }
        END { for (shader in longest) print longest[shader] }' - "$1/names"
}

# gather FOLDER: copies the files that standard input names, each distinct one once, and writes how many
# invocations a step has of each.
gather() {
    mkdir -p "$1"
    sort -k2,2 >"$1/names"
    while IFS='	' read -r file name weight; do
        [ -e "$1/$name" ] || cp "$file" "$1/$name"
    done <"$1/names"
    awk 'BEGIN { FS = "\t" } { sum[$2] += $3 } END { for (n in sum) printf "%s\t%.0f\n", n, sum[n] }' \
        "$1/names" >"$1/invocations"
}

nets() {
    echo "$runs" | tr , '\n' | grep -v '^check$' | grep -v '^float16$'
}

# runs_has RUN
runs_has() {
    case ,$runs, in *,"$1",*) ;; *) return 1 ;; esac
}

# write_net FAMILY-FOLDER NET FILE: adds to FILE what it finds.
write_net() {
    in_disguise "$1/description" "$1/step/$2" sh "$work/train.sh" "$out/glcnn" "$2" || {
        echo "$2 does not train in the disguise of $(sed -n 's/^renderer //p' "$1/description"):"
        tail -n 2 "$1/step/$2/err"
        return 1
    }
    name_sources "$1/step/$2" >>"$3"
}

# What it computes in disguise is nothing: other numbers are no failure if every kernel ran.
write_check() { # FAMILY-FOLDER
    in_disguise "$1/description" "$1/all" "$out/glcnn" check --quick
    if grep -q 'could not run' "$1/all/out" || ! grep -q '^[0-9]* kernels, ' "$1/all/out"; then
        echo "check does not run in the disguise of $(sed -n 's/^renderer //p' "$1/description"):"
        { grep 'could not run' "$1/all/out" || tail -n 2 "$1/all/err"; } | head -n 3
        return 1
    fi
    name_sources "$1/all" | sample "$1/all" | gather "$1/check"
    rm -rf "$1/all"
}

# write_sources SUITE FAMILY GPU
write_sources() {
    family=$work/$1.$2 wrong=0
    mkdir "$family"
    on_gpu "$1" "$3" /dev/null -d >"$family/description" 2>"$family/err"
    : >"$family/found"
    for net in $(nets); do
        write_net "$family" "$net" "$family/found" || wrong=1
    done
    gather "$family/nets" <"$family/found"
    ln -s nets "$family/nets16"
    if runs_has float16; then
        : >"$family/found16"
        write_net "$family" float16 "$family/found16" || wrong=1
        gather "$family/float16" <"$family/found16"
    fi
    case $1,$runs, in trixie*,check,) write_check "$family" || wrong=1 ;; esac
    return $wrong
}

copy_sources() { # SUITE FAMILY
    mkdir -p "$work/$1.$2/folder"
    cp "$sources"/*.comp "$work/$1.$2/folder"
    : >"$work/$1.$2/folder/invocations"
}

# ---- Rows ----------------------------------------------------------------------------------------

# The driver counts one dispatch of each program; a step's invocations take its place.
weigh() { # FOLDER RECORD
    (cd "$1" && ls -- *.comp) | awk 'BEGIN { FS = OFS = "\t" }
        FILENAME == "-" { name[++count] = $1; next }
        FILENAME ~ /invocations$/ { invocations[$1] = $2; next }
        $1 == "uses" { $3 = invocations[name[$2]] + 0 }
        { print }' - "$1/invocations" "$2"
}

# one SUITE GPU RUN: prints the row.
one() {
    suite=$1 gpu=$2 run=$3 name=$work/$2.$1.$3
    from=$work/$1.$(about "$2" 2)/$3
    spills=/dev/null
    [ "$run" != check ] || spills=$here/permitted
    half=''
    case $run in *16) half=-h ;; esac
    on_gpu "$suite" "$gpu" "$name.record" $half "$from"/*.comp >"$name.out" 2>"$name.err"
    status=$?
    touch "$name.record"
    weigh "$from" "$name.record" >"$name"
    awk -f "$here/records.awk" -v gpu="$gpu" -v run="$run-$(version "$suite")" -v status=$status \
        -v list="$listed" -v renderer="$(about "$gpu" 6)" -v permitted="$spills" "$name" >"$name.row"
    good=$?
    [ $status = 0 ] || cat "$name.out" "$name.err" | tail -n 3 | cut -c1-300 >>"$name.row"
    cat "$name.row"
    return $good
}

chosen_gpus() {
    for gpu in $(all_gpus | awk '{ print $1 }'); do
        case ,${gpus:-$gpu}, in *,"$gpu",*) echo "$gpu" ;; esac
    done
}

# in_parallel COMMAND: for each line of standard input, as many at a time as there are processors.
in_parallel() {
    processors=$(getconf _NPROCESSORS_ONLN) bad=0 workers=''
    cat >"$work/list"
    for mine in $(seq 0 $((processors - 1))); do
        awk -v mine="$mine" -v of="$processors" 'NR % of == mine' "$work/list" >"$work/list$mine"
        work "$1" "$work/list$mine" &
        workers="$workers $!"
    done
    for worker in $workers; do
        wait "$worker" || bad=1
    done
    return $bad
}

work() { # COMMAND LIST
    bad=0
    while read -r line <&3; do
        $1 $line || bad=1
    done 3<"$2"
    return $bad
}

# first_known SUITE FAMILY: the first GPU of the family that this Mesa knows.
first_known() {
    for gpu in $(all_gpus | awk -v family="$2" '$2 == family { print $1 }'); do
        ! knows "$1" "$gpu" || break
    done
    echo "$gpu"
}

# Lines "SUITE FAMILY GPU", for each family that a chosen GPU is of.
all_families() {
    for suite in $suites; do
        for family in $(for gpu in $(chosen_gpus); do about "$gpu" 2; done | sort -u); do
            echo "$suite" "$family" "$(first_known "$suite" "$family")"
        done
    done
}

# The runs of a suite: all nets are one.
runs_of() {
    if [ "$runs" = folder ]; then
        echo folder
        return
    fi
    [ -z "$(nets)" ] || echo nets nets16
    ! runs_has float16 || echo float16
    case $1,$runs, in trixie*,check,) echo check ;; esac
}

# runs_on GPU RUN: the compilers of all but V3D take textures of either format alike.
runs_on() {
    case $(about "$1" 2),$2 in v3d,*) ;; *,nets16) return 1 ;; esac
}

# Lines "SUITE GPU RUN", what there is to do.
all_runs() {
    for suite in $suites; do
        for run in $(runs_of "$suite"); do
            for gpu in $(chosen_gpus); do
                ! { knows "$suite" "$gpu" && runs_on "$gpu" "$run"; } || echo "$suite" "$gpu" "$run"
            done
        done
    done
}

# ---- Tables --------------------------------------------------------------------------------------

columns() {
    for suite in $suites; do
        for run in $(runs_of "$suite"); do
            echo "$suite $run"
        done
    done
}

# A line for each GPU from the rows: programs and seconds of each run, and what is wrong with them.
print_table() {
    printf '\n| GPU |'
    columns | while read -r suite run; do printf ' %s %s |' "$(version "$suite")" "$run"; done
    printf '\n| --- |'
    columns | while read -r suite run; do printf ' --- |'; done
    echo
    for gpu in $(chosen_gpus); do
        printf '| %s |' "$gpu"
        columns | while read -r suite run; do
            row=$work/$gpu.$suite.$run.row
            [ -e "$row" ] || row=/dev/null
            awk 'NR == 1 {
                printf " %d, %.1f s", $3, $8
                if ($5) printf ", %d spill", $5
                if ($6) printf ", %d failed", $6
                if ($7) printf ", %d hung", $7
            } END { print NR ? "" : " –" }' ORS=' |' "$row"
        done
        echo
    done
}

# With the Mesa that most boards have, or where that does not know the GPU with the newest.
print_shaders() {
    echo
    echo '| GPU | shader | programs | of a step | instructions | registers | threads | cycles | spills |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
    for gpu in $(chosen_gpus); do
        for suite in trixie sid bookworm; do
            for run in nets folder; do
                record=$work/$gpu.$suite.$run
                [ ! -e "$record" ] || break 2
            done
        done
        [ ! -e "$record" ] ||
            awk -f "$here/records.awk" -v gpu="$gpu" -v table="$shaders" -v hot=1 "$record"
    done
}

# ---- The model -----------------------------------------------------------------------------------

# The suite whose compiler the model asks: the one that most boards have, else the newest.
model_suite() { # GPU
    for suite in trixie sid bookworm; do
        case " $(echo $suites) " in *" $suite "*) ;; *) continue ;; esac
        ! knows "$suite" "$1" || break
    done
    echo "$suite"
}

# write_steps FAMILY-FOLDER FILE: see boards/steps.c
write_steps() {
    in_disguise "$1/description" "$1/steps" env LD_LIBRARY_PATH="$out" "$work/steps" || {
        tail -n 2 "$1/steps/err"
        return 1
    }
    mv "$1/steps/out" "$2"
}

write_inner_loops() { # FAMILY-FOLDER
    mkdir "$1/inner" && python3 "$here/inner_loops.py" "$1/nets" "$1/inner"
}

print_model() {
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -Iinclude -I"$out/include" -Isrc -o "$work/steps" \
        "$here/steps.c" -L"$out" -lglcnn || return 1
    for gpu in $(chosen_gpus); do
        suite=$(model_suite "$gpu") family=$(about "$gpu" 2) name=$suite.$family
        [ -e "$work/$name.steps" ] ||
            { write_steps "$work/$name" "$work/$name.steps" && write_inner_loops "$work/$name"; } ||
            return 1
        on_gpu "$suite" "$gpu" "$work/$gpu.inner" "$work/$name"/inner/*.comp >"$work/said" 2>&1 || {
            echo "the inner loops do not compile for $gpu:"
            tail -n 2 "$work/said"
            return 1
        }
        echo "$gpu $name" >>"$work/families"
    done
    echo
    python3 "$here/model.py" "$work" $(echo "$reports" | tr , ' ')
}

read_options "$@"
[ -n "$(chosen_gpus)" ] || {
    echo "no GPU is called $gpus" >&2
    exit 2
}
find_drivers
prepare
if [ -n "$sources" ]; then
    all_families | while read -r suite family gpu; do copy_sources "$suite" "$family"; done
else
    all_families | in_parallel write_sources || exit 1
fi
printf '%-6s %-15s %8s %6s %8s %6s %4s %7s\n' GPU run programs clean spilling failed hung cpu_s
all_runs | in_parallel one
bad=$?
[ -z "$table" ] || print_table
[ -z "$shaders" ] || print_shaders
[ -z "$model" ] || print_model || bad=1
exit $bad
