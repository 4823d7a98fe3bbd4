#!/bin/sh
# examples/pretrained.sh: what it refuses, and with GLCNN_TEST_FULL the whole round on made pictures of
# three shapes, where npm can fetch the network.
#
# Runs from the top of the tree, after a build in $O. CC and PKG_CONFIG may be given.

set -e
cc=${CC:-cc} out=${O:-build} pkg_config=${PKG_CONFIG:-pkg-config}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "test_pretrained: $*" >&2
    exit 1
}

# refused WORDS ARGUMENT...
refused() {
    words=$1
    shift
    ! sh examples/pretrained.sh "$@" >"$work/log" 2>&1 || fail "$* is not refused"
    grep -qF "$words" "$work/log" || fail "$* is refused without \"$words\": $(cat "$work/log")"
}
mkdir -p "$work/one/apple" "$work/two/apple" "$work/two/pear" "$work/cache/glcnn"
refused 'usage: sh examples/pretrained.sh PICTURES OUT.glcnn' "$work/two"
refused 'nowhere: not a folder' "$work/nowhere" "$work/out.glcnn"
refused 'one: has 1 folders; expected one for each of at least two classes' "$work/one" "$work/out.glcnn"
archive=$(sed -n 's/^package=\(.*\) version=\(.*\)/\1-\2.tgz/p' examples/pretrained.sh)
echo damaged >"$work/cache/glcnn/$archive"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
refused 'not the file that was expected' "$work/two" "$work/out.glcnn"
[ -n "$GLCNN_TEST_FULL" ] || exit 0

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
rm "$work/cache/glcnn/$archive"
if ! GLCNN=$out/glcnn sh examples/pretrained.sh "$work/shapes.d" "$work/out.glcnn" >"$work/log" 2>&1; then
    grep -q 'npm could not fetch\|npm is missing' "$work/log" || fail "$(tail -n 5 "$work/log")"
    echo 'the network cannot be fetched here'
    exit 77
fi
accuracy=$(sed -n 's/^accuracy \([0-9.]*\), .* on 90 images.*/\1/p' "$work/log")
echo "row accuracy $accuracy on 90 pictures of three shapes"
awk -v a="$accuracy" 'BEGIN { exit !(a >= 0.95) }' || fail "accuracy $accuracy, not 0.95"
