#!/bin/sh
# Mistakes of vendors' drivers that touch the library (src/device/quirks.c): llvmpipe makes each of them
# under the vendor's name, and is asked for results; under another name it must fail, or nothing was
# tried. Which threads tell of them is in platform/README.md, with those that shaders keep clear of.
#
# Runs from the top of a built tree. CC and O may be given. Exits 77 where Mesa's llvmpipe is not there.

. tests/tool.sh
trap 'exit 130' INT TERM
unset DISPLAY WAYLAND_DISPLAY GLCNN_LIMITS
export EGL_PLATFORM=surfaceless GLCNN_DEVICE=default GLCNN_CACHE_DIR=off
. tests/idx.sh

"$glcnn" info 2>/dev/null | grep -q llvmpipe || skip 'there is no llvmpipe'
$cc -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/quirk.so" tests/preload/quirk.c -ldl || exit 1

# as VENDOR RENDERER MISTAKE COMMAND...: the command on a driver of that name that makes the mistake.
as() {
    (
        vendor=$1 renderer=$2 mistake=$3
        shift 3
        exec env QUIRK_VENDOR="$vendor" QUIRK_RENDERER="$renderer" "$mistake" LD_PRELOAD="$work/quirk.so" "$@"
    ) >"$work/said" 2>&1
}

# handles VENDOR RENDERER MISTAKE SENTENCE COMMAND...: it works, and is spoken of; the mistake under
# another name is seen.
handles() {
    vendor=$1 renderer=$2 mistake=$3 sentence=$4
    shift 4
    as "$vendor" "$renderer" "$mistake" "$@" || fail "$renderer, $mistake: $* fails: $(cat "$work/said")"
    grep -qF "the driver of $renderer $sentence" "$work/said" ||
        fail "$renderer is not said to be one that $sentence: $(cat "$work/said")"
    as Nobody Nothing "$mistake" "$@" && fail "$mistake of another driver does not make $* fail"
    echo "row $renderer: $sentence"
}

# has VENDOR RENDERER TRAIT WORD: what `glcnn info` says of it.
has() {
    as "$1" "$2" QUIRK_NONE=1 "$glcnn" info || fail "$2: $(cat "$work/said")"
    grep -q "^  $3  *$4" "$work/said" || fail "$2 has not \"$3 $4\": $(cat "$work/said")"
}

# Bytes that are read late: of tensors, uniforms, and uniforms that move with each step.
late='reads bytes after the call that gave them'
handles 'Vivante Corporation' 'Vivante GC7000UL' QUIRK_READS_LATE=1 "$late" \
    "$glcnn" check -v --quick -k fully_connected
files train '\1\0' 256
files val '\0\100' 64
# learn VENDOR RENDERER MISTAKE FILE
learn() {
    as "$1" "$2" "$3" "$glcnn" train --data "$work" --net small --epochs 2 --optimizer adam \
        --out "$work/$4" --force || fail "$3: $(cat "$work/said")"
}
learn 'Vivante Corporation' 'Vivante GC7000UL' QUIRK_READS_LATE=1 late
learn 'Vivante Corporation' 'Vivante GC7000UL' QUIRK_NONE=1 early
cmp "$work/late" "$work/early" || fail 'a driver that reads late learns something else'

# Binaries of programs: the second start has them.
export GLCNN_CACHE_DIR="$work/programs"
as Nobody Nothing QUIRK_NONE=1 "$glcnn" check --quick -k add || fail "$(cat "$work/said")"
ls "$work/programs" | grep -q program || fail 'no binaries are kept'
as 'Imagination Technologies' 'PowerVR Rogue GE8320' QUIRK_NONE=1 "$glcnn" check --quick -k add ||
    fail "$(cat "$work/said")"
handles 'Imagination Technologies' 'PowerVR Rogue GE8320' QUIRK_BINARIES=1 \
    'says of a binary that it is linked, and crashes where it is not' "$glcnn" check -v --quick -k add
export GLCNN_CACHE_DIR=off
has 'Vivante Corporation' 'Vivante GC7000UL' wrong_binaries yes
has Mesa 'Vivante GC7000 rev 6214' reads_late no
has Qualcomm 'Adreno (TM) 530' wrong_binaries yes
has Qualcomm 'Adreno (TM) 640' wrong_binaries no

# Timers.
handles ARM Mali-G72 QUIRK_TIMERS=1 'has timers that corrupt memory or crash' \
    "$glcnn" bench -v --quick -k neuron --shape relu
has Qualcomm 'Adreno (TM) 640' wrong_timers yes
has Mesa 'Mali-G52 (Panfrost)' wrong_timers no
has 'Google Inc. (ARM)' 'ANGLE (ARM, Vulkan 1.1.177 (Mali-G78 (0x92020010)), Mali-38.1)' wrong_timers no

# Arithmetic. A compiler that takes the processor for another has one lane's result for all of them: a
# software rasteriser that does is refused when it is opened, a GPU is named with what is wrong.
$cc -shared -fPIC -O1 -o "$work/shader.so" tests/preload/shader.c -ldl || exit 1
export SHADER_OF='words[0] += 1u;' SHADER_NOTE="$work/changed"

# computes RENDERER FROM TO STATUS PHRASE: `glcnn info` on a driver of that name, "" for its own, which
# takes the one for the other.
computes() {
    rm -f "$work/changed"
    (
        [ -z "$1" ] || export QUIRK_VENDOR=Nobody QUIRK_RENDERER="$1"
        SHADER_FROM=$2 SHADER_TO=$3 LD_PRELOAD="$work/quirk.so:$work/shader.so" exec "$glcnn" info
    ) >"$work/said" 2>&1
    found=$?
    [ -e "$work/changed" ] || fail "no shader has $2"
    [ $found = "$4" ] || fail "$3 for $2 on '$1' has the status $found: $(cat "$work/said")"
    grep -qF "$5" "$work/said" || fail "'$1' is not said to compute $5: $(cat "$work/said")"
}

while IFS='|' read -r right wrong phrase; do
    computes '' "$right" "$wrong" 77 "computes $phrase: no result of it can be trusted, and it is refused"
    computes Nothing "$right" "$wrong" 0 "the driver of Nothing computes $phrase: no result of it can be trusted"
done <<'END'
sqrt(x)|sqrt(known(1))|sqrt of 0.25 as 1.41421 instead of 0.5
exp2(x)|exp(x)|exp2 of 0.25 as 1.28403 instead of 1.18921
log2(x)|log2(x < 17.0 ? x : known(0))|log2 of 21.3 as -2 instead of 4.41278
floor(-x)|floor(-x - 0.05)|floor of minus 2 as -3 instead of -2
x / known|x / 2.0 * known|division of 0.25 by 2 as 0.25 instead of 0.125
sum_until(i)|sum_until(i - 1)|a sum that ends with 0.25 as 0 instead of 0.25
log2(x)|uintBitsToFloat(0x7fc00000u)|log2 of 0.25 as nan instead of -2
END

# A limit that the driver does not know: GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT.
as Nobody Nothing QUIRK_UNTOLD=37087 "$glcnn" check -v --quick -k add || fail "$(cat "$work/said")"
grep -q 'the driver of Nothing does not tell 1 of its limits' "$work/said" || fail "$(cat "$work/said")"
as Nobody Nothing QUIRK_UNTOLD=37087 "$glcnn" info
grep -q '^  buffer_offset_alignment  *256' "$work/said" || fail "$(cat "$work/said")"

# Four images and storage blocks together, the least that OpenGL ES 3.1 allows.
as Nobody Nothing QUIRK_OUTPUTS=4 "$glcnn" check --quick -k batch_normalization \
    -k batch_normalization_gradient || fail "$(cat "$work/said")"
learn ARM Mali-G72 QUIRK_OUTPUTS=4 few # with the passes that others merge
as Nobody Nothing QUIRK_OUTPUTS=4 "$glcnn" info
grep -q '^  output_resources  *4$' "$work/said" || fail "$(cat "$work/said")"

# Versions, of which the first two numbers count.
for version in 'OpenGL ES 3.2 v1.r26p0-01eac0.c4a6d1' 'OpenGL ES 3.1 V@0490.0 (GIT@85da404, I46ff5fc46f)' \
    'OpenGL ES 3.1 V6.4.3.p2.336687' 'OpenGL ES 3.2 build 1.13@5776728'; do
    as Nobody Nothing QUIRK_VERSION="$version" "$glcnn" info || fail "$version: $(cat "$work/said")"
    grep -qF "$version" "$work/said" || fail "$version: $(cat "$work/said")"
done

# A shader's first bytes.
mkdir "$work/shaders"
as Nobody Nothing GLCNN_SHADERS="$work/shaders" "$glcnn" check --quick -k add || fail "$(cat "$work/said")"
for shader in "$work"/shaders/*.comp; do
    [ "$(head -n 1 "$shader")" = '#version 310 es' ] || fail "$shader begins with $(head -n 1 "$shader")"
done

# What shaders keep clear of: gathers, whose offsets are wrong on a Mali, and a scalar that was an int and
# is shifted as a uint, which Adreno shifts as an int.
grep -rn 'textureGather\|[^v]uint([^()]*) *>>' glsl --include=*.glsl --include=*.comp &&
    fail 'a shader has what some driver makes wrongly'
exit 0
