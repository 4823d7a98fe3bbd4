#!/bin/sh
# examples/pretrained.sh: what it refuses; that a network of TensorFlow.js computes here what it computes
# there, by vectors of golden/make_tfjs.js; and with GLCNN_TEST_FULL the same of the network that npm
# fetches, which then learns made pictures of three shapes.
#
# Runs from the top of the tree, after a build in $O. CC, PKG_CONFIG and PYTHON may be given.

set -e
. tests/tool.sh
python=${PYTHON:-python3}
glcnn=$out/glcnn golden=tests/golden/tfjs
export PYTHONDONTWRITEBYTECODE=1

command -v "$python" >/dev/null || skip 'there is no python3'

# refused WORDS ARGUMENT...
refused() {
    words=$1
    shift
    ! sh examples/pretrained.sh "$@" >"$work/log" 2>&1 || fail "$* is not refused"
    grep -qF "$words" "$work/log" || fail "$* is refused without \"$words\": $(cat "$work/log")"
}
mkdir -p "$work/cache/glcnn"
refused 'usage: sh examples/pretrained.sh OUT.glcnn'
refused 'usage: sh examples/pretrained.sh OUT.glcnn' --size 96
archive=$(sed -n 's/^package=\(.*\) version=\(.*\)/\1-\2.tgz/p' examples/pretrained.sh)
echo damaged >"$work/cache/glcnn/$archive"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
refused 'not the file that was expected' "$work/out.glcnn"
[ ! -e "$work/out.glcnn" ] || fail 'what is refused leaves a file'

# ---- Like TensorFlow.js --------------------------------------------------------------------------

cat >"$work/npy.py" <<'END'
import struct
def write(path, shape, values):
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\1\0' + struct.pack('<H', len(header)) + header.encode() + bytes(values))
END

# agrees PACKAGE SIDE VECTOR: the means of the last layer of the package's network, whose soft max predict
# prints, are those that TensorFlow.js computed of the same picture.
agrees() {
    "$python" examples/pretrained.py "$1" "$work/net.onnx" || fail "$1 is not converted"
    "$glcnn" import "$work/net.onnx" -o "$work/net.glcnn" --force --size "$2" --mean 0.5,0.5,0.5 \
        --deviation 0.5,0.5,0.5 >"$work/log" 2>&1 || fail "$1: $(cat "$work/log")"
    PYTHONPATH=$work "$python" - "$work/picture.npy" "$2" <<'END'
import sys, npy
side = int(sys.argv[2])
npy.write(sys.argv[1], (1, side, side, 3), ((x * 7 + y * 13 + c * 29 + x * y % 23 * 5) % 256
                                            for y in range(side) for x in range(side) for c in range(3)))
END
    "$glcnn" predict --json "$work/net.glcnn" "$work/picture.npy" >"$work/said" 2>"$work/log" ||
        fail "$1: $(cat "$work/log")"
    "$python" - "$work/said" "$golden/$3" <<'END' || fail "$1: other values than TensorFlow.js has"
import json, math, sys
with open(sys.argv[1]) as file:
    said = [math.log(p) for p in json.load(file)[0]['probabilities'].values()]
with open(sys.argv[2]) as file:
    means = [float(line) for line in file]
off = max(abs((a - said[0]) - (b - means[0])) for a, b in zip(said, means))
print('row %d means, at most %.1e off, the largest %.2f' % (len(means), off, max(means)))
sys.exit(len(said) != len(means) or off > 1e-4)
END
}
agrees $golden 32 small.txt

# ---- Running averages ----------------------------------------------------------------------------

# Keras moves running averages by 0.001 of a step's, which the 6 steps of a run would leave as they were.
mkdir "$work/few"
PYTHONPATH=$work "$python" - "$work/few" <<'END'
import sys, npy
npy.write(sys.argv[1] + '/images.npy', (24, 3, 16, 16),
          (n % 2 * 160 + (i * 7 + n * 3) % 80 for n in range(24) for i in range(768)))
npy.write(sys.argv[1] + '/labels.npy', (24,), (n % 2 for n in range(24)))
END
# learns ARGUMENT...: in 6 steps
learns() {
    "$glcnn" train --data "$work/few" --epochs 2 --batch 7 --validation 0.1 --force "$@" >"$work/log" 2>&1 ||
        fail "$(tail -n 5 "$work/log")"
}
# as_of_keras FROM TO: the network with a share of 0.001 for 0.1, by a file of ONNX.
as_of_keras() {
    "$glcnn" export "$work/$1" -o "$work/few.onnx" --force >"$work/log" 2>&1 || fail "$(cat "$work/log")"
    "$python" - "$work/few.onnx" <<'END' || fail 'the file has no momentum'
import struct, sys
with open(sys.argv[1], 'rb') as file:
    model = file.read()
usual, keras = (struct.pack('<f', kept) for kept in (1 - 0.1, 0.999))
with open(sys.argv[1], 'wb') as file:
    file.write(model.replace(usual, keras))
sys.exit(b'momentum' not in model or usual not in model)
END
    "$glcnn" import "$work/few.onnx" -o "$work/$2" --force >"$work/log" 2>&1 || fail "$(cat "$work/log")"
}
learns --net small --out "$work/own.glcnn"
! grep '^running averages' "$work/log" || fail 'averages of a new network are told of'
as_of_keras own.glcnn keras.glcnn
learns --model "$work/keras.glcnn" --out "$work/few.glcnn"
grep -q '^running averages: [1-9] layers move theirs by 0.1 of each step.s, and not by 0.001 as in the file, which 6 steps' \
    "$work/log" || fail "running averages stay as they were: $(cat "$work/log")"
[ -n "$GLCNN_TEST_FULL" ] || exit 0

rm "$work/cache/glcnn/$archive"
if ! GLCNN=$glcnn sh examples/pretrained.sh "$work/mobile.glcnn" --size 64 >"$work/log" 2>&1; then
    grep -q 'npm could not fetch\|npm is missing' "$work/log" || fail "$(tail -n 5 "$work/log")"
    echo 'the network cannot be fetched here'
    exit 77
fi
grep -q 'MIT License' "$work/mobile.glcnn.LICENSE" || fail 'no license is written'
tar xzf "$work/cache/glcnn/$archive" -C "$work"
agrees "$work/package" 64 mobilenet_v2.txt

# ---- Learning ------------------------------------------------------------------------------------

# shapes FOLDER: 30 pictures each of circles, squares and triangles, of any colour, size and place.
cat >"$work/shapes.c" <<'END_OF_C'
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
enum { W = 100, H = 90 };
static uint32_t state = 7;
static int random_below(int n)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (uint32_t)n);
}
static int is_inside(int shape, int x, int y, int size)
{
    if (shape == 0)
        return x * x + y * y <= size * size;
    return abs(y) <= size && (shape == 1 ? abs(x) <= size : 2 * abs(x) <= y + size);
}
int main(int argc, char *argv[])
{
    static const char *const names[] = {"circle", "square", "triangle"};
    static uint8_t pixels[H][W][3];
    char path[400];
    for (int i = 0; i < 90 && argc > 1; i++) {
        int size = 18 + random_below(17), shape = i % 3;
        int left = size + random_below(W - 2 * size), top = size + random_below(H - 2 * size);
        int back[3], fore[3];
        for (int c = 0; c < 3; c++) {
            back[c] = random_below(256);
            fore[c] = (back[c] + 70 + random_below(116)) % 256;
        }
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                for (int c = 0; c < 3; c++)
                    pixels[y][x][c] = (uint8_t)(is_inside(shape, x - left, y - top, size) ? fore[c] : back[c]);
        snprintf(path, sizeof path, "%s/%s", argv[1], names[shape]);
        mkdir(path, 0777);
        snprintf(path + strlen(path), sizeof path - strlen(path), "/%d.png", i);
        png_image image = {.version = PNG_IMAGE_VERSION, .width = W, .height = H, .format = PNG_FORMAT_RGB};
        if (!png_image_write_to_file(&image, path, 0, pixels, 0, NULL))
            return 1;
    }
    return 0;
}
END_OF_C
# shellcheck disable=SC2046
$cc -D_DEFAULT_SOURCE -o "$work/shapes" "$work/shapes.c" $($pkg_config --cflags --libs libpng)
mkdir "$work/shapes.d"
"$work/shapes" "$work/shapes.d" || fail 'no pictures are made'
"$glcnn" train --model "$work/mobile.glcnn" --data "$work/shapes.d" --epochs 12 --out "$work/out.glcnn" \
    >"$work/log" 2>&1 || fail "$(tail -n 5 "$work/log")"
grep -q '^learning rate: of the 104 layers before the head 0.1 of it' "$work/log" ||
    fail 'layers that others trained learn as fast as a new head'
"$glcnn" evaluate "$work/out.glcnn" "$work/shapes.d" >"$work/log" 2>&1 || fail "$(tail -n 5 "$work/log")"
accuracy=$(sed -n 's/^accuracy \([0-9.]*\), .* on 90 images.*/\1/p' "$work/log")
echo "row accuracy $accuracy on 90 pictures of three shapes"
awk -v a="$accuracy" 'BEGIN { exit !(a >= 0.95) }' || fail "accuracy $accuracy, not 0.95"
