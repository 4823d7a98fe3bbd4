#!/bin/sh
# A compiler of shaders that does not come back: the tool says which shader it is at, and ends after
# --wait. What is compiled in time, or refused, is not told of.
#
# Runs from the top of a built tree. CC and O may be given. Exits 77 without a device.

. tests/tool.sh
goes_on=1
export GLCNN_CACHE_DIR=off # what is compiled once would not be compiled again

"$out/glcnn" info >"$work/out" 2>"$work/err"
[ $? != 77 ] || {
    tail -n 1 "$work/err"
    exit 77
}
$cc -shared -fPIC -o "$work/compiler.so" tests/preload/compiler.c -ldl || exit 1
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 2, 3), }"
    printf '\001\002\003\004\005\006'
} >"$work/x.npy"

# hangs ARGUMENT...: a shader of the command's does not compile, and the tool ends with status 1.
hangs() {
    COMPILER_HANGS='void main' LD_PRELOAD="$work/compiler.so" "$out/glcnn" "$@" >"$work/out" 2>"$work/err"
    status=$?
    [ $status = 1 ] || fail "glcnn $*: exit status $status: $(cat "$work/err")"
    grep -q '^glcnn: the driver has not compiled .*\.comp.* within [12] seconds: giving up; --wait' "$work/err" ||
        fail "glcnn $* says $(cat "$work/err")"
}

hangs check --quick --kernel pooling_max --wait 1
! grep -q still "$work/err" || fail "a notice stands before an end that comes at once: $(cat "$work/err")"
hangs run pooling_max -i source_image="$work/x.npy" --wait=2
grep -q '^glcnn: the driver is still compiling .*\.comp.* after 1 seconds$' "$work/err" ||
    fail "no notice comes before the end: $(cat "$work/err")"

# A shader that is refused, and what follows it.
"$out/glcnn" run pooling_max -p kernel_width=2 -i source_image="$work/x.npy" -w 1 >"$work/out" 2>"$work/err" ||
    fail "a kernel does not run with --wait: $(cat "$work/err")"
! grep -q 'compile' "$work/err" || fail "what is compiled in time is told of: $(cat "$work/err")"

for command in info run check bench train evaluate predict import export; do
    "$out/glcnn" $command --wait=x >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -q '^glcnn '$command': --wait is "x"; it must be a whole number in 1 .. 1000000' "$work/err" ||
        fail "glcnn $command --wait=x: $(cat "$work/err")"
done

# The software rasteriser is told of once, in the tool's words, and not to whoever asked for it.
unset GLCNN_DEVICE
"$out/glcnn" run pooling_max -i source_image="$work/x.npy" >"$work/out" 2>"$work/err"
! grep -q 'the device parameter' "$work/err" || fail "the library's words: $(cat "$work/err")"
if "$out/glcnn" info 2>"$work/err" | grep -q '^  software *yes'; then
    [ "$(grep -c 'no GPU is used: .* computes on the processor' "$work/err")" = 1 ] ||
        fail "software is told of so: $(cat "$work/err")"
fi
"$out/glcnn" run pooling_max -d software -i source_image="$work/x.npy" >"$work/out" 2>"$work/err"
[ ! -s "$work/err" ] || fail "who asks for software hears $(cat "$work/err")"

[ $failed = 0 ] && echo 'a compiler that hangs is named and given up'
