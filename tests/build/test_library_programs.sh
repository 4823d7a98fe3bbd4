#!/bin/sh
# examples/detector.c and classifier.c: they are as short as they claim, include public headers alone, and what they
# get of the library is what the tool prints, with the driver's own limits and with the least.
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. Exits 77 without a device.
set -e
. tests/tool.sh
"$glcnn" info >/dev/null 2>&1 || exit 77

# ---- What they are -------------------------------------------------------------------------------

short() { # PROGRAM LINES FUNCTIONS
    [ "$(wc -l <"examples/$1.c")" -le "$2" ] || fail "$1.c has more than $2 lines"
    [ "$(grep -oh 'glcnn_[a-z_]*(' "examples/$1.c" | sort -u | wc -l)" -le "$3" ] ||
        fail "$1.c calls more than $3 functions of the library"
    ! grep '^#include "' "examples/$1.c" || fail "$1.c includes what is no user's"
    grep -q "($1\.c)" examples/README.md || fail "examples/README.md does not name $1.c"
}
short detector 60 15
short classifier 30 15

# ---- Data in COCO's form -------------------------------------------------------------------------

cd "$work"
cat >draw.c <<'END_OF_C'
#include <png.h>
#include "tests/shapes.h"
#include "tests/unit.h"
/* draw FOLDER COUNT SEED ANNOTATIONS */
int main(int argc, char *argv[])
{
    static struct shapes s;
    static unsigned char bytes[SHAPES_SIDE * SHAPES_SIDE * 3];
    uint32_t seed = (uint32_t)atoi(argv[3]);
    int count = atoi(argv[2]), objects = 0;
    FILE *boxes = tmpfile(), *file = fopen(argv[4], "w");
    fprintf(file, "{\"images\": [");
    for (int n = 0; n < count; n++) {
        char path[256];
        png_image image = {.version = PNG_IMAGE_VERSION, .width = SHAPES_SIDE,
                           .height = SHAPES_SIDE, .format = PNG_FORMAT_RGB};
        shapes_make(&s, &seed);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(255 * s.pixels[i] + 0.5f);
        snprintf(path, sizeof path, "%s/%03d.png", argv[1], n);
        if (argc < 5 || !png_image_write_to_file(&image, path, 0, bytes, 0, NULL))
            return 1;
        fprintf(file, "%s{\"id\": %d, \"file_name\": \"%03d.png\", \"width\": %d, \"height\": %d}",
                n ? ", " : "", n, n, SHAPES_SIDE, SHAPES_SIDE);
        for (uint32_t i = 0; i < s.count; i++) {
            const struct glcnn_box *b = &s.objects[i].box;
            fprintf(boxes, "%s{\"id\": %d, \"image_id\": %d, \"category_id\": %u, \"iscrowd\": %d, "
                    "\"bbox\": [%g, %g, %g, %g]}", objects ? ", " : "", objects, n, s.objects[i].label,
                    objects % 7 == 3, b->left, b->top, b->right - b->left, b->bottom - b->top);
            objects++;
        }
    }
    fprintf(file, "], \"annotations\": [");
    rewind(boxes);
    for (int c; (c = getc(boxes)) != EOF;)
        putc(c, file);
    fprintf(file, "], \"categories\": [{\"id\": 0, \"name\": \"one\"}, {\"id\": 1, \"name\": \"two\"}, "
                  "{\"id\": 2, \"name\": \"three\"}]}\n");
    return fclose(file) != 0;
}
END_OF_C
# shellcheck disable=SC2046
$cc -O1 -D_XOPEN_SOURCE=700 -I"$top/include" -iquote "$top/src" -iquote "$top" -o draw draw.c "$top/tests/shapes.c" \
    "$top/src/task/detection_box.c" $($pkg_config --cflags --libs libpng cunit) -lm >log 2>&1 ||
    fail 'draw.c does not compile'
mkdir -p coco/train2017 coco/val2017 coco/annotations
./draw coco/train2017 160 1 coco/annotations/instances_train2017.json
./draw coco/val2017 20 4711 coco/annotations/instances_val2017.json

# ---- The detector --------------------------------------------------------------------------------

# compares WHAT: the program's measure and boxes are those of the tool, of the file that it has written.
compares() {
    "$glcnn" evaluate --json model.safetensors coco >evaluated.json 2>>log || fail 'evaluate fails'
    "$glcnn" predict --json model.safetensors coco/val2017/000.png >predicted.json 2>>log || fail 'predict fails'
    python3 - >log 2>&1 <<'END_OF_PYTHON' || fail "$1: the program and the tool differ"
import json
lines = open('said').read().splitlines()
measure = [line for line in lines if line.startswith('mAP@0.5 ')][0].split()
boxes = [line.split() for line in lines[lines.index(' '.join(measure)) + 1:]]
tool, answer = json.load(open('evaluated.json')), json.load(open('predicted.json'))[0]['boxes']
print(measure, tool['map_50'], boxes, answer)
assert abs(float(measure[1]) - tool['map_50']) < 1e-6 and int(measure[3]) == tool['count']
assert len(boxes) == len(answer)
for said, box in zip(boxes, answer):
    assert said[0] == box['name'] and abs(float(said[1]) - box['score']) < 1e-4
    assert all(abs(float(a) - b) < 0.06 for a, b in zip(said[2:], box['box']))
END_OF_PYTHON
    cat log
}
"$out/examples/detector" coco/val2017/000.png data coco out model.safetensors net small epochs 4 batch 8 seed 1 \
    lr 0.004 >said 2>log || fail 'the detector fails'
grep -q '^epoch 4: mAP@0.5 ' said || fail 'there is no event of epoch 4'
compares 'the detector'
rm model*
GLCNN_LIMITS=min
export GLCNN_LIMITS
"$out/examples/detector" coco/val2017/000.png data coco out model.safetensors net small epochs 1 batch 8 limit 16 \
    >said 2>log || fail 'the detector fails with the least limits'
compares 'the detector with the least limits'
unset GLCNN_LIMITS
"$out/examples/detector" coco/val2017/000.png data coco out model.safetensors >said 2>log &&
    fail 'another file is written over'
grep -q 'detector: .*model.safetensors' log || fail 'nobody says what is in the way'
"$out/examples/detector" coco/val2017/000.png data nowhere out other.safetensors >said 2>log &&
    fail 'there is no such data'
grep -q 'detector: .*nowhere' log || fail 'nobody says that there is no such data'

# ---- The classifier ------------------------------------------------------------------------------

mkdir -p classes/dark classes/light
for n in 000 001 002 003 004 005 006 007; do
    cp "coco/train2017/$n.png" classes/dark && cp "coco/val2017/$n.png" classes/light
done
"$out/examples/classifier" coco/val2017/000.png data classes out class.safetensors net lenet epochs 1 >said 2>log ||
    fail 'the classifier fails'
"$glcnn" predict class.safetensors coco/val2017/000.png >predicted 2>log || fail 'predict fails'
sed '$d' said | cmp - predicted || { cat said predicted; fail 'the classifier and the tool differ'; }
