#!/bin/sh
# make DRM=no: libraries and tool link without libgbm and libdrm, compute on EGL's default display, and
# say of a node that GBM is missing. tests/build/test_builds.sh compiles them without the headers.
#
# Runs from the top of a built tree. CC, MAKE, PKG_CONFIG and O may be given. Exits 77 where Mesa's
# llvmpipe is not there.

. tests/tool.sh
make=${MAKE:-make} out=${O:-build}
trap 'exit 130' INT TERM
unset MAKEFLAGS MFLAGS MAKELEVEL O GLCNN_DEVICE DISPLAY WAYLAND_DISPLAY
export EGL_PLATFORM=surfaceless # Mesa's default display

# What make would do, and what packages are told.
$make -n V=1 DRM=no O="$work/made" all >"$work/commands" 2>&1 || fail "$(tail "$work/commands")"
grep -q 'platform/no_gbm_device.o' "$work/commands" || fail 'no_gbm_device.c is not built'
grep -e '[ /]gbm_device' -e '-lgbm' -e '-ldrm' "$work/commands" && fail 'DRM=no needs GBM'
$make DRM=no O="$work/made" "$work/made/glcnn.pc" >/dev/null || fail 'there is no glcnn.pc'
grep -qx 'Requires.private: egl' "$work/made/glcnn.pc" || fail "$(cat "$work/made/glcnn.pc")"

# The objects are those of any build but for one.
$cc -std=c11 -iquote . -Iinclude -c -o "$work/no_gbm_device.o" platform/no_gbm_device.c || exit 1
cp "$out/libglcnn.a" "$work" || exit 1
ar d "$work/libglcnn.a" gbm_device.o 2>/dev/null
ar r "$work/libglcnn.a" "$work/no_gbm_device.o" || exit 1
# shellcheck disable=SC2046 # lists of files and options
$cc -pie -o "$work/glcnn" "$out/src/tool/main.o" "$out"/examples/support/*.o "$out/tool.a" \
    "$out/libglcnn_train.a" "$out/libglcnn_data.a" "$out/libglcnn_tflite.a" "$out/libglcnn_onnx.a" "$out/libglcnn_interchange.a" "$work/libglcnn.a" \
    $($pkg_config --libs libcjson libcbor liblzma libprotobuf-c libzip libpng libjpeg libwebp \
        libtiff-4 zlib expat yaml-0.1 egl) -lstdc++ -pthread -lm || fail 'the tool does not link'
readelf -d "$work/glcnn" >"$work/needed" || exit 1
grep -e libgbm -e libdrm "$work/needed" && fail 'the tool needs GBM'

"$work/glcnn" info --json 2>/dev/null | grep -q '"usable":.*true' || skip 'no device is here'
for device in default software; do
    GLCNN_DEVICE=$device "$work/glcnn" check --quick -k add >"$work/check" 2>&1 &&
        grep -q '^1 kernels, 0 failed' "$work/check" || fail "$device: $(cat "$work/check")"
done

# A node, which is listed and cannot be used.
$cc -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/blob.so" tests/preload/blob.c -ldl || exit 1
mkdir "$work/nodes" && : >"$work/nodes/renderD128"
nodes() {
    BLOB_NODES=$work/nodes LD_PRELOAD=$work/blob.so "$work/glcnn" "$@" >"$work/said" 2>&1
}
nodes info || fail "$(cat "$work/said")"
sentence='the library was built without GBM (make DRM=no)'
grep -q "gbm  */dev/dri/renderD128 .* cannot be used: $sentence" "$work/said" || fail "$(cat "$work/said")"
nodes check -d /dev/dri/renderD128 -k add && fail 'a kernel runs on a node without GBM'
grep -q "gbm /dev/dri/renderD128: $sentence" "$work/said" || fail "$(cat "$work/said")"
