#!/bin/sh
# Heads of detect and segment on an imported network: a classifier that is trained here, written as ONNX
# and imported, learns boxes and masks with its own layers frozen; runs that are resumed and unfrozen, features that
# are kept, what comes of the files, and what cannot be a backbone. All within the minimum limits. With GLCNN_TEST_FULL
# also the network of a package, where npm can fetch it.
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. Exits 77 without a device.

. tests/tool.sh
. tests/features.sh
cd "$work" || exit 1
export GLCNN_LIMITS=min

# runs ARGUMENT...: the tool succeeds; what it says is in log.
runs() {
    "$glcnn" "$@" >log 2>&1 || fail "glcnn $* fails"
}

# refuses PHRASE ARGUMENT...: the tool fails, and says so.
refuses() {
    phrase=$1
    shift
    "$glcnn" "$@" >log 2>&1
    [ $? = 1 ] || fail "glcnn $*: status is not 1"
    grep -q -- "$phrase" log || fail "glcnn $*: does not say \"$phrase\""
}

# at_least FOUND WANTED
at_least() {
    awk -v found="$1" -v wanted="$2" 'BEGIN { exit !(found + 0 >= wanted) }'
}

# measure NAME MODEL DATA: a number of the evaluation.
measure() {
    "$glcnn" evaluate --json "$2" "$3" 2>log | sed -n 's/^\t"'"$1"'":[^0-9-]*\([0-9.e-]*\).*/\1/p'
}

needs_device

cat >draw.c <<'END_OF_C'
/* draw boxes FOLDER COUNT SEED: images, labels of their boxes, and masks of what a disc of the box's size
 * covers. draw classes FOLDER COUNT SEED: pictures whose shapes are all of one class, by class. */
#include <png.h>
#include "tests/shapes.h"
#include "tests/unit.h"
static struct shapes s;
static unsigned char bytes[SHAPES_SIDE * SHAPES_SIDE * 3], mask[SHAPES_SIDE * SHAPES_SIDE];
static void save(const char *path, png_uint_32 format, const unsigned char *from)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = SHAPES_SIDE, .height = SHAPES_SIDE,
                       .format = format};
    if (!png_image_write_to_file(&image, path, 0, from, 0, NULL))
        exit(1);
}
static void save_picture(const char *path)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(255 * s.pixels[i] + 0.5f);
    save(path, PNG_FORMAT_RGB, bytes);
}
static int is_of_one_class(void)
{
    for (uint32_t i = 1; i < s.count; i++)
        if (s.objects[i].label != s.objects[0].label)
            return 0;
    return s.count > 0;
}
static void save_labels(const char *path)
{
    FILE *file = fopen(path, "w");
    for (uint32_t i = 0; file && i < s.count; i++) {
        const struct glcnn_box *b = &s.objects[i].box;
        fprintf(file, "%u %g %g %g %g\n", s.objects[i].label, (b->left + b->right) / 128,
                (b->top + b->bottom) / 128, (b->right - b->left) / 64, (b->bottom - b->top) / 64);
    }
    if (!file || fclose(file) != 0)
        exit(1);
}
static void save_mask(const char *path)
{
    memset(mask, 0, sizeof mask);
    for (uint32_t i = 0; i < s.count; i++) {
        const struct glcnn_box *b = &s.objects[i].box;
        for (int y = 0; y < SHAPES_SIDE; y++)
            for (int x = 0; x < SHAPES_SIDE; x++) {
                const float u = (2 * x + 1 - b->left - b->right) / (b->right - b->left),
                            v = (2 * y + 1 - b->top - b->bottom) / (b->bottom - b->top);
                if (u * u + v * v < 1)
                    mask[y * SHAPES_SIDE + x] = 1;
            }
    }
    save(path, PNG_FORMAT_GRAY, mask);
}
int main(int argc, char *argv[])
{
    char path[256];
    uint32_t seed = argc == 5 ? (uint32_t)atoi(argv[4]) : 0;
    const int boxes = argc == 5 && strcmp(argv[1], "boxes") == 0;
    for (int n = 0; argc == 5 && n < atoi(argv[3]); n++) {
        do
            shapes_make(&s, &seed);
        while (!boxes && !is_of_one_class());
        if (boxes)
            snprintf(path, sizeof path, "%s/images/%03d.png", argv[2], n);
        else
            snprintf(path, sizeof path, "%s/%u/%03d.png", argv[2], s.objects[0].label, n);
        save_picture(path);
        snprintf(path, sizeof path, "%s/labels/%03d.txt", argv[2], n);
        if (boxes)
            save_labels(path);
        snprintf(path, sizeof path, "%s/masks/%03d.png", argv[2], n);
        if (boxes)
            save_mask(path);
    }
    return argc != 5;
}
END_OF_C
# shellcheck disable=SC2046
$cc -O1 -D_XOPEN_SOURCE=700 -I"$top/include" -iquote "$top/src" -iquote "$top" -o draw draw.c "$top/tests/shapes.c" \
    "$top/src/task/detection_box.c" $($pkg_config --cflags --libs libpng cunit) -lm >log 2>&1 ||
    fail 'draw.c does not compile'
for part in train valid; do
    mkdir -p boxes/$part/images boxes/$part/labels boxes/$part/masks
done
mkdir -p classes/0 classes/1 classes/2 masks
./draw classes classes 600 99 && ./draw boxes boxes/train 800 1 && ./draw boxes boxes/valid 128 4711 ||
    fail 'there are no pictures'
printf 'names: [rectangle, disc, triangle]\n' >boxes/data.yaml
mv boxes/train/masks masks/masks && cp -r boxes/train/images masks/images && rm -r boxes/valid/masks
rm -f masks/*/[2-7]*.png
printf 'ground\nshape\n' >masks/classes.txt

# ---- The backbone ----

runs train --data classes --net mobilenet-tiny --epochs 2 --batch 16 --lr 0.02 --out classifier.glcnn
runs export classifier.glcnn -o classifier.onnx
runs import classifier.onnx -o net.glcnn

# ---- Boxes ----

runs train --model net.glcnn --task detect --data boxes --train last --epochs 4 --batch 8 --lr 0.004 \
    --augment flip --out boxes.glcnn
grep -q '^head: new, for detect, on batch_normalization_6 of 16x16x64$' log || fail 'the map is not told'
grep -q '^layers: 8 of 22 train$' log || fail 'other layers train than those of the head'
map=$(measure map_50 boxes.glcnn boxes)
at_least "$map" 0.85 || fail "mAP@0.5 is $map; expected 0.85 at least"
! LC_ALL=C grep -aq 'fully_connected' boxes.glcnn || fail "the file has the classifier's own head"
runs predict --draw drawn boxes.glcnn boxes/valid/images
[ "$(ls drawn | wc -l)" = 128 ] || fail 'not all pictures are drawn'
runs export boxes.glcnn -o boxes.onnx
grep -q '^boxes.onnx: images of 64x64x3, 3 classes' log || fail 'the detector is not exported'
runs import boxes.onnx -o again.glcnn
grep -q '^again.glcnn: images of 64x64x3, for the task detect, 3 classes' log || fail 'the ONNX file is no detector'

# ---- Masks ----

runs train --model net.glcnn --task segment --data masks --train last --epochs 6 --lr 0.1 --batch 16 \
    --augment flip --out masks.glcnn
grep -q '^head: new, for segment, on batch_normalization_2 of 32x32x32, batch_normalization_6 of 16x16x64$' log ||
    fail 'the maps are not told'
miou=$(measure mIoU masks.glcnn masks)
at_least "$miou" 0.8 || fail "mIoU is $miou; expected 0.8 at least"
runs predict --masks found.masks masks.glcnn boxes/valid/images
[ "$(ls found.masks | wc -l)" = 128 ] || fail 'masks are not predicted'

# ---- Runs in pieces ----

for task in detect segment; do
    data=boxes
    [ $task = detect ] || data=masks
    for run in whole pieces; do
        epochs=2
        [ $run = whole ] || epochs=1
        runs train --model net.glcnn --task $task --data $data --train last --unfreeze-after 1 --limit 32 \
            --batch 8 --epochs $epochs --schedule constant --augment flip --out $run.glcnn --force
    done
    runs train --resume pieces.glcnn --epochs 2 --out pieces.glcnn
    for run in whole pieces; do
        "$glcnn" evaluate --json $run.glcnn $data >$run.found 2>log || fail "$run: evaluate"
    done
    cmp whole.found pieces.found || fail "a resumed run of $task differs"
done

# ---- Features that are kept ----

keeps_features 24 --model net.glcnn --task detect --data boxes --limit 12 --batch 4
keeps_features 16 --model net.glcnn --task segment --data masks --limit 8 --batch 4

# ---- A network that is no classifier, and what cannot be a backbone ----

runs import boxes.onnx -o cut.glcnn --output batch_normalization_4
runs train --model cut.glcnn --task segment --data masks --limit 8 --batch 8 --epochs 1
grep -q '^head: new, for segment, on .*batch_normalization_4 of 16x16x64$' log || fail 'a network without a head'
refuses 'the network is for the task segment, and cannot be trained for detect' \
    train --model masks.glcnn --task detect --data boxes
runs import "$top/tests/golden/learned/tokens.onnx" -o tokens.glcnn
refuses 'of pictures of 8x8, none of its layers makes a map with a pixel for 4x4, 8x8 or 16x16 pixels' \
    train --model tokens.glcnn --task segment --data masks --out not.glcnn
[ ! -e not.glcnn ] || fail 'what is refused leaves a file'
echo "mAP@0.5 $map, mIoU $miou"

# ---- A network of a package ----

[ -n "$GLCNN_TEST_FULL" ] || exit 0
cd "$top" || exit 1
if ! GLCNN=$glcnn sh examples/pretrained.sh "$work/mobile.glcnn" --size 128 >"$work/log" 2>&1; then
    cd "$work" || exit 1
    grep -q 'npm could not fetch\|npm is missing' log || fail 'the network is not imported'
    echo 'the network cannot be fetched here'
    exit 77
fi
cd "$work" || exit 1
runs train --model mobile.glcnn --task detect --data boxes --limit 16 --batch 8 --epochs 3 --loss ciou \
    --lr 0.004 --log mobile.csv --out mobile_boxes.glcnn
grep -q '^head: new, for detect, on .*block_5_add of 16x16x32, block_12_add of 8x8x96' log || fail 'other maps of the package'
grep -q '^learning rate: of the [0-9]* layers before the head 0.1 of it' log || fail 'the package learns as fast as its head'
awk -F, 'NR == 2 { first = $4 } NR > 1 { last = $4 } END { exit !(NR == 7 && last > 0 && last < 0.8 * first) }' mobile.csv ||
    fail 'the head does not learn on the network of a package'
runs predict mobile_boxes.glcnn boxes/valid/images/000.png
