#!/bin/sh
# Every kernel, and a training of "small", on ANGLE: another front end, compiler and rasteriser than any
# of Mesa's, and what Android's OpenGL ES is becoming. It is Chromium's, on SwiftShader, and EGL's default
# display is all that the library is told of it. The accuracy is llvmpipe's to within 0.002.
#
# Runs from the top of a built tree. O may be given; ANGLE is kept in $O/angle. Exits 77 without
# GLCNN_TEST_FULL, and where npm cannot fetch ANGLE or there is no llvmpipe or no Fashion-MNIST.

. tests/tool.sh
angle=$out/angle package=@sparticuz/chromium@123.0.1
trap 'exit 130' INT TERM
unset GLCNN_LIMITS GALLIUM_DRIVER DISPLAY WAYLAND_DISPLAY
export GLCNN_CACHE_DIR=off

# 64 MB to fetch, for 4 MB of it.
fetch() {
    cd "$work" || exit 1
    npm pack --ignore-scripts "$package" >log 2>&1 || skip "npm could not fetch $package"
    tar xzf sparticuz-chromium-*.tgz package/bin/swiftshader.tar.br || fail "$package has no ANGLE"
    node -e 'process.stdin.pipe(require("zlib").createBrotliDecompress()).pipe(process.stdout)' \
        <package/bin/swiftshader.tar.br >angle.tar || fail "$package cannot be unpacked"
    mkdir angle && tar xf angle.tar -C angle || fail "$package cannot be unpacked"
    ln -s libEGL.so angle/libEGL.so.1 # the name that programs are linked with
    mv angle "$angle"
}

# on_angle COMMAND...
on_angle() {
    ANGLE_DEFAULT_PLATFORM=swiftshader VK_ICD_FILENAMES=$angle/vk_swiftshader_icd.json \
        LD_LIBRARY_PATH=$angle GLCNN_DEVICE=default "$@"
}

# train NAME COMMAND...: the command's training leaves $accuracy, that of the validation images.
train() {
    name=$1
    shift
    "$@" "$glcnn" train --data "$data" --net small --limit 6400 --epochs 1 --out "$work/$name.safetensors" \
        >"$work/$name" 2>&1 || fail "$name: $(cat "$work/$name")"
    accuracy=$(sed -n 's/^epoch 1 of 1: .*validation loss [0-9.]*, accuracy \([0-9.]*\).*/\1/p' "$work/$name")
    [ -n "$accuracy" ] || fail "$name: no accuracy is printed: $(cat "$work/$name")"
}

[ -n "$GLCNN_TEST_FULL" ] || skip 'ANGLE is fetched, and asked for all kernels, with GLCNN_TEST_FULL'
data=/usr/share/datasets/fashion-mnist
[ -e $data ] || skip 'there is no Fashion-MNIST (dataset-fashion-mnist)'
GLCNN_DEVICE=software "$glcnn" info 2>&1 | grep -q llvmpipe || skip 'there is no llvmpipe'
for command in npm node; do
    command -v $command >/dev/null || skip "there is no $command to fetch ANGLE with"
done
[ -e "$angle/libEGL.so.1" ] || (fetch) || exit $?

on_angle "$glcnn" check >"$work/check" 2>&1 || fail "$(cat "$work/check")"
head -n 5 "$work/check" | grep -q '^OpenGL ES 3.1.* (ANGLE ' || fail "it is not ANGLE: $(cat "$work/check")"
result=$(sed -n 's/^\([1-9][0-9]* kernels, 0 failed\); \(largest error .*\)/\1, \2/p' "$work/check")
[ -n "$result" ] || fail "the check tells no result: $(cat "$work/check")"
echo "row ANGLE on SwiftShader: $result"

train angle on_angle
here=$accuracy
train llvmpipe env GLCNN_DEVICE=software
echo "row small: accuracy $here on ANGLE, $accuracy on llvmpipe"
awk -v a="$here" -v b="$accuracy" 'BEGIN { d = a - b; exit !(a > 0.7 && d <= 0.002 && d >= -0.002) }' ||
    fail "$here is not within 0.002 of $accuracy"
