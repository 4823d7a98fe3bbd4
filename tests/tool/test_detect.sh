#!/bin/sh
# The task detect by the tool, on made shapes with YOLO's labels: trained from nothing, evaluated,
# predicted and drawn; a run that is resumed; and what does not fit.
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
#include <png.h>
#include "tests/shapes.h"
#include "tests/unit.h"
int main(int argc, char *argv[])
{
    static struct shapes s;
    static unsigned char bytes[SHAPES_SIDE * SHAPES_SIDE * 3];
    uint32_t seed = argc > 3 ? (uint32_t)atoi(argv[3]) : 0;
    for (int n = 0; argc > 3 && n < atoi(argv[2]); n++) {
        char path[256];
        png_image image = {.version = PNG_IMAGE_VERSION, .width = SHAPES_SIDE,
                           .height = SHAPES_SIDE, .format = PNG_FORMAT_RGB};
        shapes_make(&s, &seed);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(255 * s.pixels[i] + 0.5f);
        snprintf(path, sizeof path, "%s/images/%03d.png", argv[1], n);
        if (!png_image_write_to_file(&image, path, 0, bytes, 0, NULL))
            return 1;
        snprintf(path, sizeof path, "%s/labels/%03d.txt", argv[1], n);
        FILE *file = fopen(path, "w");
        for (uint32_t i = 0; file && i < s.count; i++) {
            const struct glcnn_box *b = &s.objects[i].box;
            fprintf(file, "%u %g %g %g %g\n", s.objects[i].label, (b->left + b->right) / 128,
                    (b->top + b->bottom) / 128, (b->right - b->left) / 64,
                    (b->bottom - b->top) / 64);
        }
        if (!file || fclose(file) != 0)
            return 1;
    }
    return argc <= 3;
}
END_OF_C
$cc -O1 -D_XOPEN_SOURCE=700 -I"$top/include" -iquote "$top/src" -iquote "$top" -o draw draw.c "$top/tests/shapes.c" \
    "$top/src/task/detection_box.c" $($pkg_config --cflags --libs libpng cunit) -lm ||
    fail 'draw.c does not compile'
mkdir -p shapes/train/images shapes/train/labels shapes/valid/images shapes/valid/labels
./draw shapes/train 800 1 && ./draw shapes/valid 128 4711 || fail 'there are no pictures'
printf 'names: [rectangle, disc, triangle]\n' >shapes/data.yaml

# ---- Train, evaluate ----

"$glcnn" train --data shapes --net mobilenet-tiny --epochs 4 --batch 8 --lr 0.004 --augment flip \
    --out shapes.safetensors >log 2>&1 || fail 'detection does not train'
grep -q '^task: detect' log || fail 'labels beside pictures are not taken for detection'
"$glcnn" evaluate --json shapes.safetensors shapes >evaluation 2>log || fail 'evaluate fails'
map=$(sed -n 's/^\t"map_50":[^0-9-]*\([0-9.e-]*\).*/\1/p' evaluation)
at_least "$map" 0.95 || fail "mAP@0.5 is $map; expected 0.95 at least"

# ---- Predict ----

"$glcnn" predict --draw drawn shapes.safetensors shapes/valid/images >found 2>log ||
    fail 'predict fails'
[ "$(ls drawn | wc -l)" = 128 ] || fail 'not all pictures are drawn'
# Objects for which there is a box of the class whose middle lies within three pixels of theirs.
for file in shapes/valid/labels/*.txt; do
    sed "s|^|$(basename "$file" .txt) |" "$file"
done >wanted
awk '
    FILENAME == "found" {
        name = $1; sub(/.*\//, "", name); sub(/\.png$/, "", name); n = ++count[name, $2]
        x[name, $2, n] = ($5 + $7) / 2; y[name, $2, n] = ($6 + $8) / 2; next
    }
    {
        all++; hit = 0
        for (i = 1; i <= count[$1, $2]; i++) {
            dx = x[$1, $2, i] - 64 * $3; dy = y[$1, $2, i] - 64 * $4
            hit = hit || dx * dx + dy * dy < 9
        }
        hits += hit
    }
    END { print hits " of " all; exit !(hits >= 0.85 * all) }' found wanted >log ||
    fail 'boxes that are predicted are not those of the objects'

# Fewer boxes where fewer are asked for: the likeliest of each picture, those of half a probability, those
# of other places.
boxes() { # boxes OPTION...: how many there are
    "$glcnn" predict "$@" shapes.safetensors shapes/valid/images >some 2>log || fail "predict $*"
    wc -l <some
}
all=$(wc -l <found)
[ "$(boxes --confidence 0.3 --overlap 0.6 --most 300)" = "$all" ] || fail 'the defaults are others'
[ "$(boxes --most 1)" = "$(cut -d' ' -f1 found | sort -u | wc -l)" ] || fail '--most 1 gives others'
[ "$(boxes --confidence 0.5)" = "$(awk '$4 >= 0.5' found | wc -l)" ] || fail '--confidence 0.5'
[ "$(boxes --across-classes --overlap 0.1)" -le "$(boxes --overlap 0.1)" ] || fail '--across-classes'
[ "$(boxes --confidence 0.02)" -gt "$all" ] || fail '--confidence 0.02 gives no more'
refuses 2 '--overlap is "2"; it must be a number in 0 .. 1' predict --overlap 2 shapes.safetensors x.png
refuses 2 '--most is "301"; it must be a whole number in 1 .. 300' \
    predict --most 301 shapes.safetensors x.png

# ---- Resume ----

for run in whole pieces; do
    epochs=2
    [ $run = whole ] || epochs=1
    "$glcnn" train --data shapes --net mobilenet-tiny --limit 64 --batch 8 --epochs $epochs \
        --schedule constant --augment flip,scale=0.1,mosaic --out $run.safetensors >log 2>&1 ||
        fail "$run does not train"
done
"$glcnn" train --resume pieces.safetensors --epochs 2 --out pieces.safetensors >log 2>&1 ||
    fail 'a second part'
for run in whole pieces; do
    "$glcnn" evaluate --json $run.safetensors shapes >$run.found 2>log || fail "$run: evaluate"
done
cmp whole.found pieces.found || fail 'a resumed run of detection differs'

# Other boxes are other data, which a run does not go on with.
cp -r shapes others
echo '0 0.5 0.5 0.2 0.2' >>others/train/labels/007.txt
refuses 1 'images other than those' train --resume pieces.safetensors --data others --epochs 3

# ---- What does not fit, or is not there ----

refuses 2 'has nothing for --top' predict --top 2 pieces.safetensors shapes/valid/images
mkdir -p same/a
cp shapes/valid/images/000.png same/a/b.png
cp shapes/valid/images/001.png same/a_b.png
refuses 1 'drawn/same_a_b.png: would be written twice by --draw' \
    predict --draw drawn pieces.safetensors same/a/b.png same/a_b.png

# Frozen layers before those that train see pictures that differ in each epoch.
"$glcnn" train --model shapes.safetensors --data shapes --train last:4 --limit 64 --batch 8 \
    --epochs 1 --augment flip --out tuned.safetensors >log 2>&1 || fail 'a tuned head'
grep -q 'features: not kept, because of --augment' log || fail 'features are kept'
tuned=$(sed -n 's/^epoch 1 of 1: .* mAP@0.5 \([0-9.]*\).*/\1/p' log)
grep -q '^best: epoch 1, validation mAP@0.5:0.95 0\.' log || fail 'the best epoch is not by mAP@0.5:0.95'
at_least "$tuned" 0.8 || fail "mAP@0.5 of a tuned head is $tuned; expected 0.8 at least"

# Validation pictures without objects: the loss decides, and the run can be resumed.
mkdir -p empty && cp -r shapes/train shapes/valid shapes/data.yaml empty
for file in empty/valid/labels/*.txt; do
    : >"$file"
done
"$glcnn" train --data empty --limit 16 --batch 8 --epochs 1 --out empty.safetensors --log empty.csv \
    >log 2>&1 || fail 'validation pictures without objects'
grep -q 'validation: the pictures have no objects, so there is no mAP@0.5' log ||
    fail 'that there are no objects is not said'
grep -q '^best: epoch 1, validation mAP@0.5:0.95 no objects' log || fail 'the best epoch has an mAP'
grep -qi 'nan' log && fail 'nan is printed'
"$glcnn" train --resume empty.safetensors --epochs 2 --out empty.safetensors --log empty.csv \
    >log 2>&1 || fail 'a run without objects in validation is not resumed'
awk -F, 'END { exit !($6 > 0 && $7 == "") }' empty.csv || fail 'the log has no loss of validation'

# Folders that COCO names by parts are no classes.
mkdir -p coco/train2017 coco/val2017 coco/annotations
for n in 000 001 002 003; do
    cp shapes/train/images/$n.png coco/train2017 && cp shapes/valid/images/$n.png coco/val2017
done
for part in train2017 val2017; do
    cat >coco/annotations/instances_$part.json <<'END_OF_JSON'
{"images": [{"id": 1, "file_name": "000.png", "width": 64, "height": 64},
            {"id": 2, "file_name": "001.png", "width": 64, "height": 64}],
 "annotations": [{"id": 1, "image_id": 1, "category_id": 3, "bbox": [10, 10, 20, 20]},
                 {"id": 2, "image_id": 2, "category_id": 3, "bbox": [30, 10, 20, 20]}],
 "categories": [{"id": 3, "name": "disc"}]}
END_OF_JSON
done
"$glcnn" train --data coco --epochs 1 >log 2>&1 || fail 'COCO'
grep -q '^task: detect' log || fail "COCO's folders are taken for classes"

echo "mAP@0.5 $map"
