#!/bin/sh
# The task keypoints on made pictures: what is trained, evaluated and predicted, against distances that
# this script makes of the predictions by itself; a run that is resumed; features that are kept; and what is refused.
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. Exits 77 without a device.

. tests/tool.sh
. tests/features.sh
cd "$work" || exit 1

# refuses STATUS PHRASE ARGUMENT...: the tool ends with that status, and says so.
refuses() {
    status=$1 phrase=$2
    shift 2
    "$glcnn" "$@" >log 2>&1
    [ $? = "$status" ] || fail "glcnn $*: status is not $status"
    grep -q -- "$phrase" log || fail "glcnn $*: does not say \"$phrase\""
}

# number NAME: of a line of evaluate --json, the last of that name.
number() {
    sed -n "s/^\t\"$1\":[^0-9-]*\([-0-9.e]*\).*/\1/p" evaluation
}

needs_device

# A red disc and a blue square in wide pictures; of every eighth the square is missing.
cat >draw.c <<'END_OF_C'
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
enum { WIDTH = 48, HEIGHT = 40 };
static unsigned char pixels[HEIGHT][WIDTH][3];
static double uniform(double low, double high)
{
    return low + (high - low) * (rand() / (RAND_MAX + 1.0));
}
static void shape(int is_square, double at_x, double at_y, double radius)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const double dx = fabs(x + 0.5 - at_x), dy = fabs(y + 0.5 - at_y);
            if (is_square ? dx < radius && dy < radius : hypot(dx, dy) < radius)
                pixels[y][x][is_square ? 2 : 0] = (unsigned char)uniform(180, 255);
        }
}
int main(int argc, char *argv[])
{
    FILE *list = argc == 2 ? fopen("shapes/list.csv", "w") : NULL;
    if (!list)
        return 1;
    fputs("file,disc_x,disc_y,square_x,square_y\n", list);
    for (int n = 0; n < atoi(argv[1]); n++) {
        char path[64];
        png_image image = {.version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT,
                           .format = PNG_FORMAT_RGB};
        const double x = uniform(2, WIDTH - 2), y = uniform(4, HEIGHT - 4);
        const double square_x = uniform(6, WIDTH - 6), square_y = uniform(6, HEIGHT - 6);
        for (int i = 0; i < HEIGHT * WIDTH * 3; i++)
            ((unsigned char *)pixels)[i] = (unsigned char)uniform(30, 110);
        if (n % 8 > 0)
            shape(1, square_x, square_y, 5);
        shape(0, x, y, 4);
        fprintf(list, n % 8 > 0 ? "%03d.png,%.2f,%.2f,%.2f,%.2f\n" : "%03d.png,%.2f,%.2f,-1,-1\n", n,
                x, y, square_x, square_y);
        snprintf(path, sizeof path, "shapes/images/%03d.png", n);
        if (!png_image_write_to_file(&image, path, 0, pixels, 0, NULL))
            return 1;
    }
    return fclose(list) != 0;
}
END_OF_C
$cc -O1 -o draw draw.c $($pkg_config --cflags --libs libpng) -lm || fail 'draw.c does not compile'
mkdir -p shapes/images && ./draw 200 || fail 'there are no pictures'

# ---- What is learned ----

"$glcnn" train --task keypoints --data shapes --size 32 --epochs 15 --batch 8 --lr 0.01 \
    --augment flip,rotate=15,crop=2 --out shapes.safetensors --log log.csv >log 2>&1 ||
    fail 'keypoints are not trained'
head -n 1 log.csv | grep -q ',loss,PCK@0.05,validation_loss,validation_PCK@0.05$' ||
    fail 'the log has no PCK'
"$glcnn" evaluate --json --report report shapes.safetensors shapes >evaluation 2>log ||
    fail 'evaluate fails'
grep -q 'sees the middle' log && fail 'evaluate sees the middle alone'
pck=$(number pck_005)
awk -v pck="$pck" 'BEGIN { exit !(pck >= 0.9) }' || fail "PCK is $pck; expected 0.9 at least"
grep -rq "pixels away" report || fail 'the report names no keypoint that is off'

# The same by the predictions, in pixels of the pictures, whose twentieth is 2.4 of them.
"$glcnn" predict --draw drawn shapes.safetensors shapes/images >found 2>log || fail 'predict fails'
grep -q 'sees the middle' log && fail 'predict sees the middle alone'
[ "$(ls drawn | wc -l)" = 200 ] || fail 'not all pictures are drawn'
again=$(awk -F '[ ,]' '
    FILENAME != "found" {
        wanted_x[$1 " disc"] = $2; wanted_y[$1 " disc"] = $3
        wanted_x[$1 " square"] = $4; wanted_y[$1 " square"] = $5
        next
    }
    {
        sub(/.*\//, "", $1)
        x = wanted_x[$1 " " $2]; y = wanted_y[$1 " " $2]
        if (x < 0)
            next
        d = sqrt((x - $3) ^ 2 + (y - $4) ^ 2)
        near += d < 2.4; sum += d; seen++
    }
    END { printf "%.3f %.3f", near / seen, sum / seen }' shapes/list.csv found)
[ -n "$again" ] || fail 'there are no predictions'
awk -v pck="$pck" -v mean="$(number mean_distance)" -v again="$again" 'BEGIN {
    split(again, a, " ")
    exit !(pck - a[1] < 0.006 && a[1] - pck < 0.006 && mean - a[2] < 0.01 && a[2] - mean < 0.01)
}' || fail "PCK is $pck and the mean distance $(number mean_distance); by the predictions $again"
"$glcnn" predict --json shapes.safetensors shapes/images/001.png >found 2>log || fail 'no JSON'
[ "$(grep -c '"confidence":' found)" = 2 ] && grep -q '"name":.*"square"' found ||
    fail 'JSON has other keypoints'

# Images of another size than the network was trained at.
"$glcnn" predict --json --size 40 shapes.safetensors shapes/images/001.png >larger 2>log ||
    fail 'another size is not predicted'
awk '/"[xy]":/ { gsub(/[^0-9.]/, "", $0); at[FILENAME, ++count[FILENAME]] = $0 }
    END {
        for (i = 1; i <= 4; i++)
            if ((at["found", i] - at["larger", i]) ^ 2 > 9)
                exit 1
        exit count["larger"] != 4
    }' found larger || fail 'another size finds keypoints elsewhere'
"$glcnn" evaluate --json --size 40 shapes.safetensors shapes >larger 2>log || fail 'evaluate at another size'
"$glcnn" evaluate --json --size 32 shapes.safetensors shapes >same 2>log || fail 'evaluate at its own size'
"$glcnn" evaluate --json shapes.safetensors shapes >found 2>log || fail 'evaluate'
cmp -s same found || fail 'its own size has another result'
! cmp -s larger found || fail 'evaluate passes over --size'
refuses 2 '--size is "none"' evaluate --size none shapes.safetensors shapes
refuses 2 '--size is "none"' predict --size none shapes.safetensors shapes/images/001.png

# ---- Resuming ----

# Keypoints that are called left and right change places in mirrored pictures, in a resumed run too.
cp -r shapes sides
sed -i '1s/.*/file,disc_left_x,disc_left_y,disc_right_x,disc_right_y/' sides/list.csv
for run in 'whole 2' 'pieces 1'; do
    "$glcnn" train --task keypoints --data sides --size 16 --epochs "${run#* }" \
        --schedule constant --augment flip,rotate=20 --out "${run% *}.safetensors" >log 2>&1 ||
        fail "$run: does not train"
done
"$glcnn" train --resume pieces.safetensors --epochs 2 --out pieces.safetensors >log 2>&1 ||
    fail 'a second part'
for file in whole pieces; do
    "$glcnn" predict --json $file.safetensors shapes/images >$file.found 2>log ||
        fail "$file predicts nothing"
done
cmp whole.found pieces.found || fail 'a resumed run differs'

# ---- Features that are kept ----

keeps_features 24 --model shapes.safetensors --task keypoints --data shapes --limit 12 --batch 4

# ---- Left and right ----

"$glcnn" train --task keypoints --data sides --size 16 --epochs 1 >log 2>&1 || fail 'sides'
grep -q '^augmentation: flip; ' log || fail 'keypoints with sides are not mirrored'
grep -q '^mirrored pictures: 1 pair of keypoints, called left and right, changes places$' log ||
    fail 'that sides change places is not said'
"$glcnn" train --task keypoints --data shapes --size 16 --epochs 1 --augment flip --fit cut \
    --out cut.safetensors >log 2>&1 || fail 'no sides'
grep -q '^mirrored pictures: no keypoint is called left or right, so none change places$' log ||
    fail 'that nothing changes places is not said'
sed -i '1s/right/far/g' sides/list.csv
"$glcnn" train --task keypoints --data sides --size 16 --epochs 1 >log 2>&1 || fail 'a lone side'
grep -q '^augmentation: ' log && fail 'a left without a right is mirrored'
grep -q '^pictures are not mirrored: keypoint "disc_left" has no counterpart on the right' log ||
    fail 'why pictures are not mirrored is not said'
refuses 2 'flip,crop=2 mirrors pictures, and keypoint "disc_left" has no counterpart on the right' \
    train --task keypoints --data sides --size 16 --epochs 1 --augment flip,crop=2

# What is cut is said, and stays so.
"$glcnn" predict cut.safetensors shapes/images >found 2>log || fail 'a network that cuts predicts nothing'
grep -q '^glcnn predict: of 200 pictures of 48x40 the network sees the middle 40x40 alone$' log ||
    fail 'predict does not say that it sees the middle alone'
refuses 1 '--fit differs; the run began with "cut"' train --fit stretch --resume cut.safetensors --epochs 2
refuses 2 'there is no fit "whole"' train --task keypoints --data shapes --fit whole

# ---- What is refused ----

refuses 1 'cannot be trained for regress' train --task regress --model shapes.safetensors --data shapes
refuses 1 'this one is to keypoints' evaluate --flip shapes.safetensors shapes
refuses 2 'has nothing for --masks' predict --masks here shapes.safetensors shapes/images/000.png
refuses 2 'has nothing for --overlap' predict --overlap 0.5 shapes.safetensors shapes/images/000.png
cp -r shapes odd
sed -i 's/,[^,]*$//' odd/list.csv
refuses 1 '"square_x" is followed by no column' train --task keypoints --data odd
cp shapes/list.csv odd/list.csv
sed -i '1s/square_y/disc_z/' odd/list.csv
refuses 1 '"square_x" is followed by disc_z' train --task keypoints --data odd
sed -i '1s/.*/file,disc_y,disc_x,square_x,square_y/' odd/list.csv
refuses 1 '"disc_y" is followed by disc_x' train --task keypoints --data odd
cp shapes/list.csv odd/list.csv
sed -i '3s/,[^,]*$/,/' odd/list.csv
refuses 1 'odd/list.csv' train --task keypoints --data odd
