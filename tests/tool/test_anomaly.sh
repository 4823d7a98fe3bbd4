#!/bin/sh
# glcnn anomaly, as a person uses it: made textures without and with scratches and blobs, laid out as MVTec
# AD is, on a small network that was trained here; what it finds and where, that it finds the same twice,
# and what it refuses. With GLCNN_TEST_FULL also on the network that examples/pretrained.sh fetches.
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. Exits 77 without a device.

. tests/tool.sh
cd "$work" || exit 1

needs_device

# draw FOLDER TEXTURE SIDE: 24 normal pictures to learn from, and to test 10 of each kind.
# draw spot FILE SIDE: stripes with a dark blob at three quarters of the width and a quarter of the height.
# draw mask FILE SIDE: class 1 to the left, class 0 to the right.
# draw array FILE SIDE: a .npy of two pictures with values that no network takes.
cat >draw.c <<'END_OF_C'
#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
enum { MOST = 256 };
static double values[MOST][MOST];
static int side;
static uint32_t state;
static double between(double a, double b)
{
    state = state * 1664525u + 1013904223u;
    return a + (b - a) * (state >> 8) / 16777216.0;
}
static void texture(int checker)
{
    const double turn = 2 * 3.14159265358979 * 8 / side;
    double x0 = between(0, side / 32.0), y0 = between(0, side / 32.0);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            double u = sin(turn * (x + x0)), v = sin(turn * (y + y0));
            values[y][x] = 128 + 60 * (checker ? u * v > 0 ? 1 : -1 : u) + between(-10, 10);
        }
}
static void dot(double x, double y, double radius, double value)
{
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++)
            if ((i - x) * (i - x) + (j - y) * (j - y) <= radius * radius)
                values[j][i] = value + between(-10, 10);
}
static void scratch(void)
{
    double x = between(0.2, 0.8) * side, y = between(0.2, 0.8) * side, turn = between(0, 6.2831853);
    for (double t = 0; t < 0.3 * side; t++)
        dot(x + t * cos(turn), y + t * sin(turn), side / 100.0, 235);
}
static void blob(void)
{
    double x = between(0.2, 0.8) * side, y = between(0.2, 0.8) * side;
    dot(x, y, between(0.03, 0.06) * side, between(0, 1) < 0.5 ? 30 : 225);
}
static int write_picture(const char *path)
{
    static const double tint[] = {1, 0.9, 0.7};
    static uint8_t pixels[MOST * MOST * 3];
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (unsigned)side, .height = (unsigned)side,
                       .format = PNG_FORMAT_RGB};
    for (int i = 0; i < side * side * 3; i++) {
        double v = values[i / 3 / side][i / 3 % side] * tint[i % 3];
        pixels[i] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
    return png_image_write_to_file(&image, path, 0, pixels, 0, NULL);
}
static int write_mask(const char *path)
{
    static uint8_t classes[MOST * MOST];
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (unsigned)side, .height = (unsigned)side,
                       .format = PNG_FORMAT_GRAY};
    for (int i = 0; i < side * side; i++)
        classes[i] = i % side < side / 2;
    return png_image_write_to_file(&image, path, 0, classes, 0, NULL);
}
static int write_array(const char *path)
{
    FILE *file = fopen(path, "wb");
    const float value = 3e38f;
    char header[118];
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, %d, %d), }", side, side);
    fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, header);
    for (int i = 0; i < 2 * 3 * side * side; i++)
        fwrite(&value, sizeof value, 1, file);
    return fclose(file) == 0;
}
static int write_all(const char *folder, int checker)
{
    static const char *const parts[] = {"train", "train/good", "test", "test/good", "test/scratch", "test/blob"};
    char path[600];
    mkdir(folder, 0777);
    for (int k = 0; k < 6; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, parts[k]);
        mkdir(path, 0777);
        for (int n = 0; n < (k == 1 ? 24 : 10) && k != 0 && k != 2; n++) {
            texture(checker);
            if (k == 4)
                scratch();
            if (k == 5)
                blob();
            snprintf(path, sizeof path, "%s/%s/%02d.png", folder, parts[k], n);
            if (!write_picture(path))
                return 0;
        }
    }
    return 1;
}
int main(int argc, char *argv[])
{
    side = argc == 4 ? atoi(argv[3]) : 0;
    state = 7;
    if (side < 1 || side > MOST)
        return 1;
    if (strcmp(argv[1], "array") == 0)
        return !write_array(argv[2]);
    if (strcmp(argv[1], "mask") == 0)
        return !write_mask(argv[2]);
    if (strcmp(argv[1], "spot") != 0)
        return !write_all(argv[1], strcmp(argv[2], "checker") == 0);
    texture(0);
    dot(0.75 * side, 0.25 * side, 0.06 * side, 20);
    return !write_picture(argv[2]);
}
END_OF_C
# shellcheck disable=SC2046
$cc -D_DEFAULT_SOURCE -o draw draw.c $($pkg_config --cflags --libs libpng) -lm >log 2>&1 || fail 'the drawing program does not build'

# runs STATUS ARGUMENT...
runs() {
    wanted=$1 status=0
    shift
    "$glcnn" anomaly "$@" >said 2>log </dev/null || status=$?
    [ $status = "$wanted" ] || fail "anomaly $*: status $status, not $wanted"
}
# refused STATUS WORDS ARGUMENT...
refused() {
    status=$1 words=$2
    shift 2
    runs "$status" "$@"
    grep -qF -- "$words" log || fail "anomaly $*: no \"$words\""
    [ ! -s said ] || fail "anomaly $*: an answer is printed"
}
# separates TEXTURE LEAST: the last answer has at least that AUROC.
separates() {
    auroc=$(sed -n 's/^AUROC //p' said)
    echo "row $1: AUROC $auroc"
    awk -v a="$auroc" -v least="$2" 'BEGIN { exit !(a >= least) }' || fail "$1: AUROC \"$auroc\", not $2"
}

# ---- A network that was trained here -------------------------------------------------------------

for texture in stripes checker; do
    ./draw $texture $texture 64 || fail 'there are no pictures'
    mkdir -p classes && cp -r $texture/train/good classes/$texture
done
"$glcnn" train --data classes --epochs 4 --batch 8 --out net.glcnn >log 2>&1 || fail 'the network does not train'

for texture in stripes checker; do
    runs 0 fit $texture --model net.glcnn -o $texture.glcnn
    grep -q "^data: normal pictures are those of $texture/train/good$" log || fail 'the folder is not told'
    grep -q '^layer: .*, 16x16 pixels of 32 features$' said || fail "no layer of 16x16: $(cat said)"
    grep -q '^bank: 461 of the 4608 patches of 18 pictures, 16x16 patches each$' said || fail "another bank: $(cat said)"
    grep -q '^threshold: .*, number 6 of the 6 scores .*; about 14 % of normal pictures will score higher$' said ||
        fail "the threshold has no reason: $(cat said)"
    grep -q '^for the quantile 0.95 of --quantile hold out 19 normal pictures or more$' said || fail "no advice: $(cat said)"
    runs 0 score $texture.glcnn $texture
    [ "$(grep -c '^.*/test/.*png [0-9.]* \(anomalous\|normal\)$' said)" = 30 ] || fail "not 30 lines: $(cat said)"
    grep -q '^above the threshold of [0-9.]*: [0-9]* of 20 anomalous pictures, [0-9]* of 10 normal ones$' said ||
        fail "the threshold is not tried: $(cat said)"
    separates $texture 0.95
done

# The file has all layers that patches need, no other, and nothing of where the backbone is.
mv net.glcnn hidden.glcnn
runs 0 score stripes.glcnn stripes/test/blob/03.png
mv hidden.glcnn net.glcnn
cp said one
LC_ALL=C grep -aq 'convolution_1.weights' stripes.glcnn || fail 'the file lacks the second convolution'
! LC_ALL=C grep -aq 'fully_connected' stripes.glcnn || fail 'the file has the head of the backbone'
# Another checks the same picture's score, which its neighbours in a batch do not change.
runs 0 score stripes.glcnn stripes/test/blob
grep -qxF -f one said || fail "the score of a picture depends on the others: $(cat one said)"
! grep -q 'stripes/test/good' said || fail 'a folder without a folder test is not scored as it is'

# The same pictures and seed make the same file; another seed does not.
runs 0 fit stripes --model net.glcnn -o again.glcnn
cmp stripes.glcnn again.glcnn || fail 'a second fit makes another file'
runs 0 fit stripes --model net.glcnn -o other.glcnn --seed 2
! cmp -s stripes.glcnn other.glcnn || fail 'the seed changes nothing'
runs 0 fit stripes --model net.glcnn -o few.glcnn --bank 40 --held-out 0.5 --quantile 0.75 --json
grep -q '"bank":[[:space:]]*40,' said && grep -q '"held_out":[[:space:]]*12,' said && grep -q '"rank":[[:space:]]*10,' said ||
    fail "the options are not taken: $(cat said)"

# A network that makes masks ends with layers of many pixels: the deepest lies in its middle.
mkdir -p masked/images masked/masks
for n in 00 01 02 03 04 05 06 07; do
    cp stripes/train/good/$n.png masked/images/ && ./draw mask masked/masks/$n.png 64 || fail 'there are no masks'
done
"$glcnn" train --data masked --epochs 1 --batch 4 --out masks.glcnn >log 2>&1 || fail 'the network of masks does not train'
runs 0 fit stripes --model masks.glcnn -o masked.glcnn
grep -q '^layer: .*, 16x16 pixels of 32 features$' said || fail "another layer of a network of masks: $(cat said)"

# Labels are folders beside one that is called good; there are none elsewhere.
mkdir loose && cp stripes/test/good/0[01].png loose/
runs 0 score stripes.glcnn loose
[ "$(wc -l <said)" = 2 ] && ! grep -q AUROC said || fail "pictures without labels have an AUROC: $(cat said)"
runs 0 fit loose --model net.glcnn -o loose.glcnn
grep -q '^data: normal pictures are those of loose$' log || fail 'a plain folder is not taken'

# ---- Where ---------------------------------------------------------------------------------------

./draw spot spot.png 64 || fail 'there is no picture'
runs 0 score stripes.glcnn spot.png --maps maps --json
grep -q '"anomalous":[[:space:]]*true' said && grep -q '"columns":[[:space:]]*16' said || fail "spot.png: $(cat said)"
awk -F'[:,]' '/"column"/ { x = $2 } /"row"/ { y = $2 } END { exit !(x >= 10 && x <= 13 && y >= 2 && y <= 5) }' said ||
    fail "the blob is not found: $(cat said)"
[ "$(ls maps)" = 00000-spot.png ] || fail "heat maps are $(ls maps)"
cat >look.c <<'END_OF_C'
/* look FILE: whether a picture is bright at (3/4, 1/4), where the blob is dark, and grey at (1/4, 3/4). */
#include <png.h>
#include <stdlib.h>
int main(int argc, char *argv[])
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (argc != 2 || !png_image_begin_read_from_file(&image, argv[1]))
        return 1;
    image.format = PNG_FORMAT_RGB;
    unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
    if (!png_image_finish_read(&image, NULL, pixels, 0, NULL) || image.width != 64 || image.height != 64)
        return 2;
    const unsigned char *hot = pixels + (16 * 64 + 48) * 3, *cold = pixels + (48 * 64 + 16) * 3;
    if (hot[0] < 150)
        return 3;
    return cold[0] == cold[1] && cold[1] == cold[2] ? 0 : 4;
}
END_OF_C
# shellcheck disable=SC2046
$cc -o look look.c $($pkg_config --cflags --libs libpng) >log 2>&1 || fail 'the reader of heat maps does not build'
./look maps/00000-spot.png || fail "the heat map is not hot where the blob is, and only there: $?"
refused 1 'maps/00000-spot.png: already exists; --force overwrites it' score stripes.glcnn spot.png --maps maps
runs 0 score stripes.glcnn stripes --maps maps --force
[ "$(ls maps | wc -l)" = 31 ] && [ -f maps/00011-good-01.png ] || fail "heat maps are $(ls maps)"

# ---- What is refused -----------------------------------------------------------------------------

refused 2 'expected "fit" or "score"'
refused 2 'there is no part "fti"; did you mean fit?' fti
refused 2 'no folder of normal pictures given' fit
refused 2 '--model is missing' fit stripes -o x.glcnn
refused 2 '--out is missing' fit stripes --model net.glcnn
refused 2 '--maps is an option of "score"' fit stripes --model net.glcnn -o x.glcnn --maps m
refused 2 'no pictures given' score stripes.glcnn
refused 2 'are options of "fit"' score stripes.glcnn spot.png --model net.glcnn
refused 2 '--quantile is "1"; it must be above 0 and below 1' fit stripes --quantile 1
refused 2 '--bank is "0"; it must be a whole number in 1 .. 65535' fit stripes --bank 0
refused 2 '--output is given more than 2 times' fit stripes --output a --output b --output c
refused 1 'stripes.glcnn: already exists; --force overwrites it' fit stripes --model net.glcnn -o stripes.glcnn
refused 1 'net.glcnn: has no layer "convolution_7"; did you mean convolution_' \
    fit stripes --model net.glcnn -o x.glcnn --output convolution_7
refused 1 'net.glcnn: has no layer "this"; there are convolution_0, ' fit stripes --model net.glcnn -o x.glcnn --output this
refused 1 'layer "fully_connected_0" makes an image of 1x1 pixels; patches need a layer of 2x2 or more' \
    fit stripes --model net.glcnn -o x.glcnn --output fully_connected_0
mkdir empty single && cp spot.png single/
refused 1 'empty: ' fit empty --model net.glcnn -o x.glcnn
refused 1 'nowhere' fit nowhere --model net.glcnn -o x.glcnn
refused 1 'single: has one picture; two are needed' fit single --model net.glcnn -o x.glcnn
refused 1 'nowhere.png' score stripes.glcnn nowhere.png
refused 1 'net.glcnn: has no bank of patches; "glcnn anomaly fit" makes files that have one' score net.glcnn spot.png
mkdir small && ./draw spot small/tiny.png 12 && cp spot.png small/ || fail 'there are no pictures'
refused 1 'small/tiny.png: is 12x12 pixels, smaller than the grid of 16x16 patches' fit small --model net.glcnn -o x.glcnn
refused 1 'small/tiny.png: is 12x12 pixels, smaller than the grid' score stripes.glcnn small/tiny.png
./draw array large.npy 64 || fail 'there is no array'
refused 1 "the backbone's features are NaN or infinite" fit large.npy --model net.glcnn -o x.glcnn
refused 1 "(and 1 more): the backbone's features are NaN or infinite" score stripes.glcnn large.npy
[ ! -e x.glcnn ] || fail 'what is refused leaves a file'
# One byte of the bank, and half of the file.
size=$(wc -c <stripes.glcnn)
cp stripes.glcnn torn.glcnn
printf '\177' | dd of=torn.glcnn bs=1 seek=$((size - 5000)) conv=notrunc 2>/dev/null
refused 1 'torn.glcnn' score torn.glcnn spot.png
head -c $((size / 2)) stripes.glcnn >torn.glcnn
refused 1 'torn.glcnn' score torn.glcnn spot.png
# A picture that cannot be read keeps no other from its score.
head -c 100 spot.png >loose/torn.png
runs 1 score stripes.glcnn loose
[ "$(wc -l <said)" = 2 ] && grep -q 'left out: .*torn.png' log || fail "a broken picture: $(cat said)"
# Other commands do not take it for a classifier.
! "$glcnn" predict stripes.glcnn spot.png >log 2>&1 || fail 'predict takes the file for a classifier'
grep -q 'is not a classifier' log || fail 'predict does not say why'

# ---- A network of a package ----------------------------------------------------------------------

[ -n "$GLCNN_TEST_FULL" ] || exit 0
cd "$top" || exit 1
if ! GLCNN=$glcnn sh examples/pretrained.sh "$work/backbone.glcnn" --size 192 >"$work/log" 2>&1; then
    cd "$work" || exit 1
    grep -q 'npm could not fetch\|npm is missing' log || fail 'the network is not imported'
    echo 'the network cannot be fetched here'
    exit 77
fi
cd "$work" || exit 1
# separates_large TEXTURE [OPTION of fit...]
separates_large() {
    texture=$1
    shift
    ./draw large_$texture $texture 128 || fail 'there are no pictures'
    runs 0 fit large_$texture --model backbone.glcnn -o large.glcnn --force "$@"
    runs 0 score large.glcnn large_$texture
    separates "$texture on the network of a package" 0.98
}
separates_large stripes
# The layers taken by default see squares of 8 pixels too coarsely: a PatchCore with every patch of every picture has
# 0.840 on them (models/patchcore.py).
separates_large checker --output block_2_expand --output block_2_add --held-out 0.05
