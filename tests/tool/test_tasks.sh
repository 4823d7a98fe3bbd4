#!/bin/sh
# The tasks regress and segment on made pictures: what is trained, evaluated and predicted, against
# figures that this script makes of the predictions by itself; a run that is resumed; and a way through
# detect and keypoints.
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. Exits 77 without a device.

. tests/tool.sh
cd "$work" || exit 1

# refuses STATUS PHRASE ARGUMENT...: the tool ends with that status, and says so.
refuses() {
    status=$1 phrase=$2
    shift 2
    "$glcnn" "$@" >log 2>&1
    [ $? = "$status" ] || fail "glcnn $*: status is not $status"
    grep -q -- "$phrase" log || fail "glcnn $*: does not say \"$phrase\""
}

# at_least FOUND WANTED
at_least() {
    awk -v found="$1" -v wanted="$2" 'BEGIN { exit !(found + 0 >= wanted) }'
}

needs_device

cat >draw.c <<'END_OF_C'
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { SIDE = 24 };
static unsigned char pixels[SIDE * SIDE * 3], mask[SIDE * SIDE];
static double place[3][3]; /* of each kind: its middle, and half its side */
static double uniform(double low, double high)
{
    return low + (high - low) * (rand() / (RAND_MAX + 1.0));
}
static void save(const char *folder, int n, const unsigned char *bytes, int format)
{
    char path[256];
    png_image image = {.version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE,
                       .format = (png_uint_32)format};
    snprintf(path, sizeof path, "%s/%03d.png", folder, n);
    if (!png_image_write_to_file(&image, path, 0, bytes, 0, NULL))
        exit(1);
}
static void noise(double mean)
{
    for (unsigned i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)uniform(mean - 40, mean + 40);
}
/* A bar that is turned, grey on noise. */
static void bar(double angle, double length)
{
    const double c = cos(angle * M_PI / 180), s = sin(angle * M_PI / 180), middle = SIDE / 2.0 - 0.5;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            if (fabs((x - middle) * c + (y - middle) * s) < length &&
                fabs((y - middle) * c - (x - middle) * s) < 2)
                pixels[y * SIDE + x] += 120;
}
/* A reddish disc, or a bluish square, with its mask. */
static void shape(int kind)
{
    const double at_x = uniform(6, SIDE - 6), at_y = uniform(6, SIDE - 6), radius = uniform(4, 7);
    place[kind][0] = at_x + 0.5;
    place[kind][1] = at_y + 0.5;
    place[kind][2] = radius;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const double dx = fabs(x - at_x), dy = fabs(y - at_y);
            if (kind == 1 ? hypot(dx, dy) > radius : dx > radius || dy > radius)
                continue;
            unsigned char *pixel = pixels + 3 * (y * SIDE + x);
            pixel[kind == 1 ? 0 : 2] = (unsigned char)uniform(150, 255);
            mask[y * SIDE + x] = (unsigned char)kind;
        }
}
/* A disc and a square as YOLO has boxes, and where their middles are. */
static void write_places(int n)
{
    char path[256];
    snprintf(path, sizeof path, "boxes/labels/%03d.txt", n);
    FILE *boxes = fopen(path, "w"), *points = fopen("points/list.csv", n ? "a" : "w");
    if (n == 0)
        fputs("file,disc_x,disc_y,square_x,square_y\n", points);
    for (int k = 1; k <= 2; k++)
        fprintf(boxes, "%d %.4f %.4f %.4f %.4f\n", k - 1, place[k][0] / SIDE, place[k][1] / SIDE,
                2 * place[k][2] / SIDE, 2 * place[k][2] / SIDE);
    fprintf(points, "%03d.png,%.2f,%.2f,%.2f,%.2f\n", n, place[1][0], place[1][1], place[2][0],
            place[2][1]);
    if (fclose(boxes) || fclose(points))
        exit(1);
}
static int read_mask(const char *folder, int n, unsigned char *bytes)
{
    char path[256];
    png_image image = {.version = PNG_IMAGE_VERSION};
    snprintf(path, sizeof path, "%s/%03d.png", folder, n);
    if (!png_image_begin_read_from_file(&image, path))
        return 0;
    image.format = PNG_FORMAT_GRAY;
    return png_image_finish_read(&image, NULL, bytes, 0, NULL) != 0;
}
/* Intersection over union of each class of masks of two folders, and their mean. */
static int compare(const char *wanted, const char *found)
{
    static unsigned char a[SIDE * SIDE], b[SIDE * SIDE];
    double both[3] = {0}, any[3] = {0}, mean = 0;
    int n = 0;
    for (; read_mask(found, n, b) && read_mask(wanted, n, a); n++)
        for (int i = 0; i < SIDE * SIDE; i++)
            for (int k = 0; k < 3; k++) {
                both[k] += a[i] == k && b[i] == k;
                any[k] += a[i] == k || b[i] == k;
            }
    for (int k = 0; k < 3; k++)
        mean += both[k] / any[k] / 3;
    printf("%.4f of %d\n", mean, n);
    return n == 0;
}
int main(int argc, char *argv[])
{
    if (argc == 4)
        return compare(argv[2], argv[3]);
    const int count = argc == 3 ? atoi(argv[2]) : 0;
    FILE *list = argc == 3 && strcmp(argv[1], "bars") == 0 ? fopen("bars/list.csv", "w") : NULL;
    if (list)
        fputs("file,angle,length\n", list);
    for (int n = 0; n < count; n++) {
        const double angle = uniform(-60, 60), length = uniform(5, 11);
        noise(70);
        memset(mask, 0, sizeof mask);
        if (list) {
            bar(angle, length);
            save("bars/images", n, pixels, PNG_FORMAT_GRAY);
            fprintf(list, "%03d.png,%.2f,%.1f\n", n, angle, 100 * length);
            continue;
        }
        shape(1);
        shape(2);
        save("shapes/images", n, pixels, PNG_FORMAT_RGB);
        save("shapes/masks", n, mask, PNG_FORMAT_GRAY);
        write_places(n);
    }
    return list && fclose(list) != 0;
}
END_OF_C
$cc -O1 -o draw draw.c $($pkg_config --cflags --libs libpng) -lm || fail 'draw.c does not compile'
mkdir -p bars/images shapes/images shapes/masks boxes/labels points
./draw bars 400 && ./draw shapes 150 || fail 'there are no pictures'

# ---- Regress ----

"$glcnn" train --data bars --epochs 12 --lr 0.002 --out bars.safetensors \
    --log bars.csv >log 2>&1 || fail 'regression does not train'
grep -q '^task: regress' log || fail 'a list with numbers for pictures is not taken for regression'
grep -q '24x24x1 to train with, 40 to validate with, 2 numbers' log || fail 'numbers are not counted'
head -n 1 bars.csv | grep -q ',loss,R2,validation_loss,validation_R2$' || fail 'the log has no R2'
grep -q '^validation: R2 [0-9.]* on 40 images, 95 % interval [0-9.-]* to [0-9.]*$' log ||
    fail 'the measure has no interval'
grep -q '^learned least: number \(angle\|length\), R2 [0-9.-]* on 40 pictures$' log ||
    fail 'what is learned least is not named'
"$glcnn" evaluate --json bars.safetensors bars >evaluation 2>log || fail 'evaluate fails'
r2=$(sed -n 's/^\t"R2":[^0-9-]*\([-0-9.e]*\).*/\1/p' evaluation)
at_least "$r2" 0.6 || fail "R2 is $r2 after 12 epochs; expected 0.6 at least"
# The same by the predictions, picture by picture.
"$glcnn" predict bars.safetensors bars/images >found 2>log || fail 'predict fails'
again=$(awk -F '[ ,]' '
    FILENAME != "found" { if (FNR > 1) { wanted[$1 " angle"] = $2; wanted[$1 " length"] = $3 } next }
    { sub(/.*\//, "", $1); w = wanted[$1 " " $2]; n[$2]++; s[$2] += w; q[$2] += w * w
      e[$2] += (w - $3) * (w - $3) }
    END { for (k in n) sum += 1 - e[k] / (q[k] - s[k] * s[k] / n[k]); print sum / 2 }
    ' bars/list.csv found)
awk -v a="$r2" -v b="$again" 'BEGIN { exit !(a - b < 1e-4 && b - a < 1e-4) }' ||
    fail "R2 is $r2, and $again by the predictions"

# Bit for bit the same as in one go.
"$glcnn" train --task regress --data bars --epochs 3 --schedule constant --out two.safetensors \
    >log 2>&1 || fail 'a first part'
"$glcnn" train --task regress --data bars --epochs 1 --schedule constant --out parts.safetensors \
    >log 2>&1 || fail 'a first part'
"$glcnn" train --resume parts.safetensors --epochs 3 --out parts.safetensors >log 2>&1 ||
    fail 'a second part'
for file in two parts; do
    "$glcnn" predict $file.safetensors bars/images >$file.found 2>log || fail "$file predicts nothing"
done
cmp two.found parts.found || fail 'a resumed run of regression differs'

# Other numbers are other data.
cp -r bars moved
sed -i '$s/,[^,]*$/,7.5/' moved/list.csv
refuses 1 'images other than those' train --resume parts.safetensors --data moved --epochs 9

# A number that is the same everywhere in validation has no R2; the others have. Large ones too.
mkdir -p constant/train constant/val
cp bars/images/00* bars/images/01* constant/train
cp bars/images/02* constant/val
awk -F, 'NR == 1 { print } /^0[01]/ { print $1 "," $2 "," 1e8 + $3 }' OFS=, bars/list.csv \
    >constant/train/list.csv
awk -F, 'NR == 1 { print } /^02/ { print $1 "," $2 "," 100000064 }' bars/list.csv \
    >constant/val/list.csv
"$glcnn" train --data constant --epochs 1 --batch 8 --out constant.safetensors >log 2>&1 ||
    fail 'a number that does not vary in validation'
grep -q '^length *no spread' log || fail 'a constant number has an R2'
grep -q '^angle *-*[0-9]' log || fail 'the number beside it has none'
grep -q 'no spread: a number that is the same for all' log || fail 'no spread is not explained'
sed -i '2,$s/,[^,]*,/,3,/' constant/val/list.csv
"$glcnn" train --data constant --epochs 2 --batch 8 --out constant.safetensors --force >log 2>&1 ||
    fail 'no number that varies'
[ "$(grep -c 'validation: the pictures have no spread, so there is no R2' log)" = 1 ] ||
    fail 'that there is no R2 is not said once'
grep -q '^best: epoch [12], validation R2 no spread' log || fail 'the best epoch has an R2'
grep -qi 'nan' log && fail 'nan is printed'
"$glcnn" evaluate constant.safetensors constant >log 2>&1 || fail 'evaluate of a constant'
grep -q '^R2 no spread, loss ' log || fail 'evaluate has an R2 of a constant'

# A classifier's layers do for numbers, and not the other way round.
mkdir -p kinds/a kinds/b
cp bars/images/00* kinds/a && cp bars/images/01* kinds/b
"$glcnn" train --data kinds --epochs 1 --out kinds.safetensors >log 2>&1 || fail 'classes'
"$glcnn" train --task regress --model kinds.safetensors --data bars --train last --epochs 1 \
    --out on.safetensors >log 2>&1 || fail 'a classifier does not go on with numbers'
grep -q 'features: ' log || fail 'frozen layers are not told'
"$glcnn" evaluate on.safetensors bars >log 2>&1 || fail 'numbers behind frozen layers'
refuses 1 'is for the task regress, and cannot be trained for classify' \
    train --task classify --model bars.safetensors --data kinds
refuses 2 'has nothing for --draw' predict --draw here bars.safetensors bars/images/000.png
refuses 2 'regress has nothing for --plot' evaluate --plot plot.svg bars.safetensors none
refuses 1 'names pictures, with numbers for each.*task regress' train --task classify --data bars
refuses 1 'look like those of the task regress' train --task segment --data bars
refuses 2 'task' train --task regres --data bars
"$glcnn" export bars.safetensors -o bars.onnx >log 2>&1 || fail 'regression is not exported'
grep -q 'bars.onnx: gives numbers: the numbers, in units of the data' log || fail 'export does not say what'
grep -q ', 2 numbers' log || fail 'exported numbers are called something else'

refuses 2 'there are squared, huber and absolute' train --task regress --data bars --loss dice
refuses 1 'loss differs; the run began with' train --resume parts.safetensors --loss huber --epochs 9

# ---- Segment ----

"$glcnn" train --data shapes --epochs 6 --lr 0.1 --augment flip,crop=2 --out shapes.safetensors \
    >log 2>&1 || fail 'segmentation does not train'
grep -q '^task: segment' log || fail 'masks beside pictures are not taken for segmentation'
"$glcnn" evaluate --json shapes.safetensors shapes >evaluation 2>log || fail 'evaluate fails'
miou=$(sed -n 's/^\t"mIoU":[^0-9]*\([0-9.e-]*\).*/\1/p' evaluation)
at_least "$miou" 0.85 || fail "mIoU is $miou; expected 0.85 at least"
"$glcnn" predict --masks found.masks --draw drawn shapes.safetensors shapes/images >log 2>&1 ||
    fail 'masks are not predicted'
[ "$(ls drawn | wc -l)" = 150 ] || fail 'not all pictures are drawn'
for file in found.masks/*.png; do
    mv "$file" "found.masks/${file##*_}"
done
again=$(./draw compare shapes/masks found.masks) || fail 'masks cannot be compared'
[ "$(printf '%.4f of 150' "$miou")" = "$again" ] || fail "mIoU is $miou, and $again by the masks"
"$glcnn" train --data shapes --epochs 2 --schedule constant --augment flip,rotate=20 \
    --out whole.safetensors >log 2>&1 || fail 'one go'
"$glcnn" train --data shapes --epochs 1 --schedule constant --augment flip,rotate=20 \
    --out pieces.safetensors >log 2>&1 || fail 'a first part'
"$glcnn" train --resume pieces.safetensors --epochs 2 --out pieces.safetensors >log 2>&1 ||
    fail 'a second part'
for file in whole pieces; do
    "$glcnn" predict --masks $file.masks $file.safetensors shapes/images >$file.found 2>log ||
        fail "$file predicts nothing"
done
cmp whole.found pieces.found || fail 'a resumed run of segmentation differs'
# Masks in a folder that YOLO has too; another mask is other data.
mkdir named && cp -r shapes/images named && cp -r shapes/masks named/labels
"$glcnn" train --resume pieces.safetensors --data named --epochs 3 --out named.safetensors >log 2>&1 ||
    fail 'masks in a folder of another name'
"$glcnn" train --data named --epochs 1 >log 2>&1 || fail 'masks in a folder labels'
grep -q '^task: segment' log || fail 'masks in a folder labels are taken for boxes'
cp named/labels/000.png named/labels/001.png
refuses 1 'images other than those' train --resume pieces.safetensors --data named --epochs 3
refuses 2 'has nothing for --masks' predict --masks here kinds.safetensors bars/images/000.png

# ---- Detect, keypoints -----------------------------------------------------------------------------

# test_detect.sh and test_keypoints.sh see what is learned; here is a way through each.
cp -r shapes/images boxes && cp -r shapes/images points
# through TASK DATA MEASURE: the loss falls, the measure is a number, each picture has what is found.
through() {
    "$glcnn" train --task "$1" --data "$2" --net small --limit 64 --batch 8 --epochs 3 --lr 0.01 --schedule constant \
        --out "$1.safetensors" --log "$1.csv" >log 2>&1 || fail "$1 does not train"
    awk -F , 'NR == 2 { first = $4 } { last = $4 } END { exit !(last < 0.8 * first) }' "$1.csv" ||
        fail "$1: the loss does not fall"
    "$glcnn" evaluate --json "$1.safetensors" "$2" >evaluation 2>log || fail "$1: evaluate fails"
    grep -q "\"$3\":[^0-9]*[01][.0-9]*" evaluation || fail "$1: there is no $3"
    "$glcnn" predict --draw "$1.drawn" "$1.safetensors" "$2/images" >found 2>log || fail "$1: predict fails"
    [ "$(ls "$1.drawn" | wc -l)" = 150 ] || fail "$1: not all pictures are drawn"
}
through detect boxes map_50
through keypoints points pck_005
[ "$(grep -c ' disc ' found)" -gt 0 ] || fail 'no disc is found'
