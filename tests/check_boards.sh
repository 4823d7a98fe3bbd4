#!/bin/sh
# Trains and checks on the shader compilers of embedded GPUs: Mesa's drivers on fake devices, which
# tests/boards/build.sh builds where they are not there yet. Compiling, linking and dispatching are
# real; nothing is computed, so the numbers that come out are not looked at.
#
# usage: tests/check_boards.sh [OPTION]... [-- COMMAND...]
#   -r trixie   with trixie's Mesa (as root) instead of this Debian's
#   -g GPU,...  on these alone
#   -w RUN,...  of lenet, small, resnet8, mobilenet-tiny, resnet10, and tokens, keras, detector, shaped, small ONNX
#               models, and segmenter, boxes, a network of each of these tasks (a training step each,
#               boards/train.sh), float16, which is resnet8 with --precision float16, any of these with 16
#               behind its name, as detector16, check, and pairs, the networks of test_pairs.c
#   -l          lists every program, the slowest to compile first
#   -s          closes with the twenty shaders that training uses most, by GPU, as Markdown
#   -t          closes with a table of the GPUs, as Markdown
#   -n          builds nothing: exits 77 where no build is there
#   COMMAND     what is run, in place of build/glcnn with each RUN
#
# Runs from the top of a built tree. O may be given; GLCNN_BOARDS names a folder with a build of
# either kind. A row for each run: programs, how many are clean, spill registers to memory, failed,
# hung, and the seconds of processor time that compiling took. Exits 1 where a program fails, hangs,
# or spills more than boards/permitted lets it, or the run ends as it should not; 77 where there are
# no drivers.

out=${O:-build}
release='' gpus='' runs=lenet,small,resnet8,float16,mobilenet-tiny,resnet10,tokens,keras,detector,shaped,segmenter,boxes,detector16,check,pairs
listed='' shaders='' table='' build=1 workers=''
here=$(dirname "$0")/boards

# Name, fake device, the setting that makes it this GPU, how the driver begins its name.
all_gpus() {
    cat <<'END_OF_GPUS'
T820 panfrost PAN_GPU_ID=820 Mali-T820
T860 panfrost PAN_GPU_ID=860 Mali-T860
G31 panfrost PAN_GPU_ID=7093 Mali-G31
G52 panfrost PAN_GPU_ID=7212 Mali-G52
G57 panfrost PAN_GPU_ID=9093 Mali-G57
G72 panfrost PAN_GPU_ID=6221 Mali-G72
V3D v3d V3D_SHIM=1 V3D
A420 freedreno FD_GPU_ID=420 FD420
A530 freedreno FD_GPU_ID=530 FD530
A618 freedreno FD_GPU_ID=618 FD618
A660 freedreno FD_GPU_ID=660 FD660
GK20A nouveau NOUVEAU_CHIPSET=ea NVEA
GM20B nouveau NOUVEAU_CHIPSET=12b NV12B
GP10B nouveau NOUVEAU_CHIPSET=13b NV13B
END_OF_GPUS
}

skip() {
    echo "$*"
    exit 77
}

read_options() {
    while getopts r:g:w:lstn option; do
        case $option in
        r) release=$OPTARG ;;
        g) gpus=$OPTARG ;;
        w) runs=$OPTARG ;;
        l) listed=1 ;;
        s) shaders=20 ;;
        t) table=1 ;;
        n) build= ;;
        *) exit 2 ;;
        esac
    done
}

# Sets root to that of trixie or to nothing, and inst and lib to where Mesa lies in it.
find_build() {
    folder=${GLCNN_BOARDS:-$out/boards/${release:-system}}
    [ -z "$build" ] || mkdir -p "$folder" || exit 1
    folder=$(cd "$folder" 2>/dev/null && pwd || echo "$folder")
    if [ -d "$folder/root" ] || [ "$release" = trixie ]; then
        root=$folder/root inst=/w/inst
    else
        root='' inst=$folder/inst
    fi
    [ -d "$root$inst" ] || [ -z "$build" ] || sh "$here/build.sh" "$folder" $release || exit $?
    lib=$(echo "$root$inst"/lib/*/libEGL.so)
    [ -e "$lib" ] || skip "no Mesa with fake devices in $folder; make check-boards builds one"
    lib=$(dirname "${lib#"$root"}")
    [ -z "$root" ] || [ "$(id -u)" = 0 ] || skip "a run in $root needs root"
}

# Records, and in a chroot what the tool needs, lie in $work; the program sees it as $seen.
prepare() {
    work=$(mktemp -d "$root/tmp/boards.XXXXXX") || exit 1
    trap 'rm -rf "$work"' EXIT
    trap 'kill $workers 2>/dev/null; exit 130' INT TERM # they do not hear of Ctrl-C
    seen=${work#"$root"}
    ${CC:-cc} -std=c11 -shared -fPIC -O1 -o "$work/observe.so" "$here/observe.c" -ldl || exit 1
    tool=$out/glcnn pairs=$out/tests/encode/test_pairs
    sh "$here/train.sh" "$tool" prepare "$work" || exit 1
    # An implementation that is forced may ask for more registers than the GPU has.
    (cd glsl && find . -name '*.comp') |
        sed 's|^\./\(.*\)|* \1 1000000000 an implementation that is forced|' >"$work/forced"
    [ -z "$root" ] || prepare_root
}

# The tool's own libraries go with it; the C library and Mesa's are the root's.
prepare_root() {
    cp "$tool" "$work/glcnn"
    [ ! -e "$pairs" ] || cp "$pairs" "$work/pairs"
    tool=$seen/glcnn pairs=$seen/pairs
    mkdir "$work/lib"
    ldd "$work"/glcnn "$work"/pair[s] 2>/dev/null | sort -u | awk '$3 ~ /^\// { print $3 }' |
        grep -Ev '/(libc|libm|libEGL|libgbm|libdrm|libGLdispatch)\.so' |
        xargs -I{} cp -L {} "$work/lib"
    mkdir -p "$root/usr/share/datasets"
    [ -d "$root/usr/share/datasets/fashion-mnist" ] ||
        cp -r /usr/share/datasets/fashion-mnist "$root/usr/share/datasets"
}

# on_gpu GPU RECORD COMMAND...: GALLIUM_THREAD=0, because a driver's own thread drops what the
# compiler says; shaderdb, because Adreno's says nothing unasked and compiles in a thread. A process may
# take half an hour of the processor, so that a busy machine ends none; the clock is for one that sleeps.
on_gpu() (
    settings=$(all_gpus | awk -v gpu="$1" '$1 == gpu { print $3 }')
    shim=$lib/lib$(all_gpus | awk -v gpu="$1" '$1 == gpu { print $2 }')_noop_drm_shim.so
    record=$2
    shift 2
    ulimit -t 1800
    timeout -k 5 14400 ${root:+chroot "$root"} env -u GLCNN_DEVICE -u GLCNN_LIMITS "$settings" \
        GALLIUM_THREAD=0 MESA_SHADER_CACHE_DISABLE=true FD_MESA_DEBUG=shaderdb \
        OBSERVE="$record" LD_LIBRARY_PATH="$lib:$seen/lib" LD_PRELOAD="$shim $seen/observe.so" \
        "$@" </dev/null
)

# What "check" computes on a fake device is nothing: other numbers are no failure if every kernel
# ran. Indices that are read back from Nouveau's are not those that were written.
judge_check() { # STATUS OUTPUT
    if [ "$1" = 1 ] && grep -q '^[0-9]* kernels, ' "$2" &&
        ! grep 'could not run' "$2" | grep -qv ': indices\['; then
        echo 0
    else
        echo "$1"
    fi
}

# Nor what a step computes: what is read back may be what lay in memory before, as on Nouveau's. A
# loss in validation is found when all programs have run; one of training ends the run before.
judge_step() { # STATUS ERRORS
    if [ "$1" = 1 ] && grep -q ': the loss in validation is .*, not finite' "$2"; then
        echo 0
    else
        echo "$1"
    fi
}

# one GPU RUN COMMAND...: prints the row.
one() {
    gpu=$1 run=$2 name=$work/$1.$2
    shift 2
    on_gpu "$gpu" "$seen/$gpu.$run" "$@" >"$name.out" 2>"$name.err"
    status=$?
    touch "$name"
    spills=/dev/null
    case $run in
    command) ;;
    pairs) spills=$work/forced ;;
    check)
        status=$(judge_check $status "$name.out")
        spills=$here/permitted
        ;;
    *) status=$(judge_step $status "$name.err") ;;
    esac
    awk -f "$here/records.awk" -v gpu="$gpu" -v run="$run" -v status="$status" -v list="$listed" \
        -v renderer="$(all_gpus | awk -v gpu="$gpu" '$1 == gpu { print $4 }')" \
        -v permitted=$spills "$name" >"$name.row"
    good=$?
    {
        [ $good = 0 ] || grep 'could not run' "$name.out"
        [ "$status" = 0 ] || tail -n 2 "$name.err" | cut -c1-300
    } >>"$name.row"
    cat "$name.row"
    return $good
}

# Those that the build has a fake device of, or those that were asked for.
chosen_gpus() {
    all_gpus | while read -r gpu shim settings renderer; do
        case ,${gpus:-$gpu}, in *,"$gpu",*) ;; *) continue ;; esac
        [ ! -e "$root$lib/lib${shim}_noop_drm_shim.so" ] || echo "$gpu"
    done
}

# Lines "GPU RUN", what there is to do.
all_runs() {
    for gpu in $(chosen_gpus); do
        for run in $(echo "$runs" | tr , ' '); do
            echo "$gpu $run"
        done
    done
}

# work N OF COMMAND...: the Nth of every OF runs.
work() {
    mine=$1 of=$2 bad=0
    shift 2
    all_runs | awk -v mine="$mine" -v of="$of" 'NR % of == mine' >"$work/list$mine"
    while read -r gpu run <&3; do
        case $run in
        command) one "$gpu" command "$@" ;;
        check) one "$gpu" check "$tool" check --quick ;;
        pairs) one "$gpu" pairs env GLCNN_TEST_BOARDS=1 "$pairs" pixels ;;
        *) one "$gpu" "$run" sh "$seen/train.sh" "$tool" "$run" ;;
        esac || bad=1
    done 3<"$work/list$mine"
    return $bad
}

# Rows come as runs end, as many at a time as there are processors.
run_all() {
    processors=$(getconf _NPROCESSORS_ONLN) bad=0
    for mine in $(seq 0 $((processors - 1))); do
        work "$mine" "$processors" "$@" &
        workers="$workers $!"
    done
    for worker in $workers; do
        wait "$worker" || bad=1
    done
    return $bad
}

# A line for each GPU from the rows: programs and seconds of each run, and what is wrong with them.
print_table() {
    names=$(echo "$runs" | tr , ' ')
    printf '\n| GPU |'
    printf ' %s |' $names
    printf '\n| --- |'
    printf '%0.s --- |' $names
    echo
    for gpu in $(chosen_gpus); do
        printf '| %s |' "$gpu"
        for run in $names; do
            awk 'NR == 1 {
                printf " %d, %.1f s", $3, $8
                if ($5) printf ", %d spill", $5
                if ($6) printf ", %d failed", $6
                if ($7) printf ", %d hung", $7
                printf " |"
            }' "$work/$gpu.$run.row"
        done
        echo
    done
}

print_shaders() {
    echo
    echo '| GPU | shader | programs | dispatches | instructions | registers | threads | cycles |' \
        'spills |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
    for gpu in $(chosen_gpus); do
        ls "$work/$gpu".* | grep -v '\.\(check\|out\|err\|row\)$' |
            xargs awk -f "$here/records.awk" -v gpu="$gpu" -v table="$shaders"
    done
}

read_options "$@"
shift $((OPTIND - 1))
[ $# = 0 ] || runs=command
find_build
prepare
printf '%-6s %-15s %8s %6s %8s %6s %4s %7s\n' GPU run programs clean spilling failed hung cpu_s
run_all "$@"
bad=$?
[ -z "$table" ] || print_table
[ -z "$shaders" ] || print_shaders
exit $bad
