#!/bin/sh
# GLCNN_DEBUG with shaders that are wrong on the driver's side: verify tells which kernel computes
# something else, nan which makes a NaN, and without the one or the other nothing is said.
#
# Runs from the top of a built tree. CC and O may be given. Exits 77 without a device.

. tests/tool.sh
failed=0
export GLCNN_CACHE_DIR=off # what is changed here is to be nobody's binary
"$out/glcnn" info >"$work/out" 2>"$work/err"
[ $? != 77 ] || {
    tail -n 1 "$work/err"
    exit 77
}
$cc -shared -fPIC -o "$work/shader.so" tests/preload/shader.c -ldl || exit 1
export SHADER_OF='largest tap of window' SHADER_FROM='(at, slice, image, best,' SHADER_NOTE="$work/changed"

# wrong WORDS TO STATUS PHRASE: max pooling runs with that shader, and ends so.
wrong() {
    rm -f "$work/changed"
    GLCNN_DEBUG=$1 SHADER_TO="$2" LD_PRELOAD="$work/shader.so" "$out/glcnn" run pooling_max \
        -p kernel_width=2 -p kernel_height=2 -i source_image="$work/x.npy" >"$work/out" 2>"$work/err"
    status=$?
    [ -f "$work/changed" ] || echo 'no shader was changed'
    [ -f "$work/changed" ] && [ $status = "$3" ] && grep -qF "$4" "$work/out" "$work/err" || {
        echo "GLCNN_DEBUG=$1: exit status $status: $(cat "$work/out" "$work/err")"
        failed=1
    }
}
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 2, 3), }"
    printf '\001\002\003\004\005\006'
} >"$work/x.npy"
more='(at, slice, image, at.x == 1 ? best + 0.5 : best,'
wrong verify "$more" 1 'GLCNN_DEBUG=verify: pooling_max makes 2.5 of destination_image, image 0, channel 0, row 0, column 1; its reference 2,'
wrong nan "$more" 0 'destination_image'
nothing='(at, slice, image, at.x == 1 ? vec4(uintBitsToFloat(0x7fc00000u)) : best,'
wrong nan "$nothing" 1 'GLCNN_DEBUG=nan: pooling_max makes a NaN of destination_image, image 0, channel 0, row 0, column 1'
wrong sync "$nothing" 0 'destination_image'
exit $failed
