#!/bin/sh
# Wherever the tool finds no memory it ends with a message and a status, or it did without: one place
# after the other where the program asks for some is let down, in each command that reads or writes a
# network.
#
# Runs from the top of a built tree. CC and O may be given. Exits 77 without a device.

. tests/tool.sh
goes_on=1
cd "$work" || exit 1

# A sanitizer has an allocator of its own.
! nm "$glcnn" 2>/dev/null | grep -q __asan_init || skip 'the tool has the allocator of a sanitizer'
$cc -shared -fPIC -O1 -o memory.so "$top/tests/preload/memory.c" 2>made || skip 'the preload does not build: the C library has no __libc_malloc'
needs_device

# Programs that are compiled once are found by the runs behind.
export GLCNN_CACHE_DIR=$work/cache MESA_SHADER_CACHE_DIR=$work/cache
mkdir cache
awk 'BEGIN {
    printf "label"; for (i = 0; i < 64; i++) printf ",p%d", i
    print ""
    for (n = 0; n < 24; n++) {
        printf "%s", n % 2 ? "light" : "dark"
        for (i = 0; i < 64; i++) printf ",%.2f", (n % 2 ? 0.6 : 0.1) + (i * 7 + n * 3) % 11 / 40
        print ""
    }
}' >data.csv
train='train --data data.csv --channels 1 --size 8 --net small --epochs 1 --batch 8'
"$glcnn" $train --out model.safetensors >log 2>&1 || fail "training fails: $(tail -n 1 log)"
"$glcnn" export model.safetensors -o model.onnx >log 2>&1 || fail "export fails: $(tail -n 1 log)"

# ---- More than there is --------------------------------------------------------------------------

# A step that does not fit is told of before it is made: here a log on a full device keeps it from it.
# Threads and arenas take address space: with those of 16 processors Mesa 25 crashes before there is a step.
step='train --net resnet8 --batch 4096 --log /dev/full --device software'
if [ -e /usr/share/datasets/fashion-mnist ]; then
    (ulimit -v 2000000 && LP_NUM_THREADS=1 MALLOC_ARENA_MAX=1 "$glcnn" $step >answer 2>err)
    grep -q '^glcnn train: a step takes 2[0-9.]* MiB, and 1953.1 MiB are free: --memory 977M splits it' err ||
        fail "a step that does not fit: $(cat err)"
    "$glcnn" $step --memory 100M >answer 2>err
    ! grep -q 'are free' err || fail "a step that fits: $(cat err)"
fi

# ---- None ----------------------------------------------------------------------------------------

# lets_down ARGUMENT...
lets_down() {
    MEMORY_LOG=places LD_PRELOAD=$work/memory.so "$glcnn" "$@" >answer 2>err ||
        fail "glcnn $*: $(tail -n 1 err)"
    [ -n "$GLCNN_TEST_FULL" ] || awk 'NR % 4 == 1' places >some
    [ -z "$GLCNN_TEST_FULL" ] || cp places some
    [ -s some ] || fail "glcnn $*: no place asks for memory"
    while read -r place; do
        MEMORY_FAILS=$place LD_PRELOAD=$work/memory.so "$glcnn" "$@" >answer 2>err </dev/null
        status=$?
        ran=$((ran + 1))
        case $status in 0 | 1 | 77) ;; *) fail "glcnn $*: no memory at $place: status $status" ;; esac
        [ $status = 0 ] || tail -n 1 err | grep -q '^glcnn [a-z]*: .*[a-z]' ||
            fail "glcnn $*: no memory at $place: $(tail -n 1 err)"
    done <some
}

ran=0
lets_down $train --force --out again.safetensors
lets_down evaluate model.safetensors data.csv
lets_down predict --top 2 model.safetensors data.csv
lets_down export --force model.safetensors -o again.onnx
lets_down import --force model.onnx -o imported.glcnn

[ $failed = 0 ] && echo "$ran times without memory, each with a message"
