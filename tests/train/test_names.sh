#!/bin/sh
# Names of classes, numbers and keypoints count: data that have a network's in another order, that rename one,
# or that have one more, for each task and for each command that brings a network and data together.
#
# Runs from the top of a built tree. CC, PKG_CONFIG and O may be given. Exits 77 without a device.

. tests/tool.sh
cd "$work" || exit 1

needs_device

# ---- Data ----------------------------------------------------------------------------------------

# Sixteen pictures of 16x16 for each of three classes, a square of its colour in each, and what tasks have
# beside them: masks, boxes, and lists of numbers and of keypoints.
cat >draw.c <<'END_OF_C'
#include <png.h>
#include <stdio.h>
#include <string.h>
enum { SIDE = 16, PICTURES = 24 };
static unsigned char pixels[SIDE][SIDE][3], mask[SIDE][SIDE];
static int save(const char *path, const void *bytes, png_uint_32 format)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE, .format = format};
    return png_image_write_to_file(&image, path, 0, bytes, 0, NULL);
}
int main(void)
{
    FILE *numbers = fopen("numbers.csv", "w"), *points = fopen("points.csv", "w");
    if (!numbers || !points)
        return 1;
    fputs("file,left,top\n", numbers);
    fputs("file,nose_x,nose_y,tail_x,tail_y\n", points);
    for (int n = 0; n < PICTURES; n++) {
        const int k = n % 3, x = n * 5 % 9, y = n * 7 % 8, size = 5 + n % 3;
        char path[64];
        memset(pixels, 30, sizeof pixels);
        memset(mask, 0, sizeof mask);
        for (int j = y; j < y + size; j++)
            for (int i = x; i < x + size; i++) {
                pixels[j][i][k] = 230;
                mask[j][i] = (unsigned char)(k + 1);
            }
        snprintf(path, sizeof path, "%02d.png", n);
        if (!save(path, pixels, PNG_FORMAT_RGB))
            return 1;
        snprintf(path, sizeof path, "mask%02d.png", n);
        if (!save(path, mask, PNG_FORMAT_GRAY))
            return 1;
        snprintf(path, sizeof path, "%02d.txt", n);
        FILE *boxes = fopen(path, "w");
        if (!boxes)
            return 1;
        fprintf(boxes, "%d %g %g %g %g\n", k, (x + size / 2.0) / SIDE, (y + size / 2.0) / SIDE,
                (double)size / SIDE, (double)size / SIDE);
        fclose(boxes);
        fprintf(numbers, "%02d.png,%d,%d\n", n, x, y);
        fprintf(points, "%02d.png,%d,%d,%d,%d\n", n, x, y, x + size, y + size);
    }
    return fclose(numbers) || fclose(points);
}
END_OF_C
$cc -O1 -o draw draw.c $($pkg_config --cflags --libs libpng) || fail 'draw.c does not compile'
mkdir raw && (cd raw && ../draw) || fail 'there are no pictures'

# data TASK KIND: makes TASK/KIND. order: the same classes, listed the other way round, and labels with them, so that
# nothing changes but numbers; renamed: the first has another name; more: there is one more; units: thousandths.
data() {
    folder=$1/$2
    mkdir -p "$folder/images"
    cp raw/[0-9][0-9].png "$folder/images"
    case $1 in
    classify)
        a=a d=
        case $2 in renamed) a=z ;; more) d=d ;; esac
        i=0
        for picture in raw/[0-9][0-9].png; do
            case $((i % 3)) in 0) class=$a ;; 1) class=b ;; 2) class=c ;; esac
            [ -z "$d" ] || [ $i -lt 20 ] || class=$d
            mkdir -p "$folder/$class"
            cp "$picture" "$folder/$class"
            i=$((i + 1))
        done
        rm -r "$folder/images" ;;
    segment)
        mkdir -p "$folder/masks"
        for mask in raw/mask*.png; do cp "$mask" "$folder/masks/${mask#raw/mask}"; done
        case $2 in
        plain) printf 'none\na\nb\nc\n' ;;
        order) printf 'none\nc\nb\na\n' ;;
        renamed) printf 'none\nz\nb\nc\n' ;;
        more) printf 'none\na\nb\nc\nd\n' ;;
        esac >"$folder/classes.txt" ;;
    detect)
        mkdir -p "$folder/labels"
        cp raw/[0-9][0-9].txt "$folder/labels"
        case $2 in
        plain) printf 'names: [a, b, c]\n' ;;
        order) printf 'names: [c, b, a]\n' ; sed -i 's/^0/x/; s/^2/0/; s/^x/2/' "$folder"/labels/*.txt ;;
        renamed) printf 'names: [z, b, c]\n' ;;
        more) printf 'names: [a, b, c, d]\n' ;;
        esac >"$folder/data.yaml" ;;
    regress)
        case $2 in
        plain) cat ;;
        order) awk -F, -v OFS=, '{ print $1, $3, $2 }' ;;
        renamed) sed '1s/left/right/' ;;
        more) awk -F, -v OFS=, '{ print $0, NR == 1 ? "age" : NR }' ;;
        units) awk -F, -v OFS=, 'NR > 1 { $2 *= 1000 } { print }' ;;
        esac <raw/numbers.csv >"$folder/list.csv" ;;
    keypoints)
        case $2 in
        plain) cat ;;
        order) awk -F, -v OFS=, '{ print $1, $4, $5, $2, $3 }' ;;
        renamed) sed '1s/nose/ear/g' ;;
        more) awk -F, -v OFS=, '{ print $0, NR == 1 ? "eye_x,eye_y" : "3,4" }' ;;
        esac <raw/points.csv >"$folder/list.csv" ;;
    esac
}

# ---- What is said --------------------------------------------------------------------------------

loss() {
    sed -n 's/.*validation loss \([-0-9.]*\),.*/\1/p' log | tail -n 1
}

# tune TASK KIND: goes on from the task's network with that data, without learning.
tune() {
    "$glcnn" train --task "$1" --model "$1.glcnn" --data "$1/$2" --batch 4 --epochs 1 --lr 1e-12 \
        --validation 0.25 --out tuned.glcnn --force >log 2>&1
}

checked=0
# expect TASK KIND COMMAND STATUS WORDS: COMMAND is model, evaluate or resume; no WORDS: none of names.
expect() {
    case $3 in
    model) tune "$1" "$2" ;;
    evaluate) "$glcnn" evaluate "$1.glcnn" "$1/$2" >log 2>&1 ;;
    resume) "$glcnn" train --resume "$1.glcnn" --data "$1/$2" --epochs 2 --out tuned.glcnn --force >log 2>&1 ;;
    esac
    status=$?
    [ $status = "$4" ] || fail "$1, $2, $3: the status is $status"
    if [ -n "$5" ]; then
        grep -q -- "$5" log || fail "$1, $2, $3: no word of \"$5\""
    else
        ! grep -Eq '^(head|classes|units):|by name|another unit' log || fail "$1, $2, $3: says something"
    fi
    [ "$3 $2" != 'model plain' ] || plain_loss=$(loss)
    [ "$3 $2" != 'model order' ] || [ "$1" = segment ] || [ "$1" = classify ] || awk -v a="$(loss)" -v b="$plain_loss" \
        'BEGIN { exit !(a - b < 2e-3 * b && b - a < 2e-3 * b) }' ||
        fail "$1: the loss is $(loss) with names in another order, and $plain_loss before"
    checked=$((checked + 1))
}

for task in classify segment detect regress keypoints; do
    for kind in plain order renamed more; do data $task $kind; done
    "$glcnn" train --task $task --net small --data $task/plain --batch 4 --epochs 1 --validation 0.25 --out $task.glcnn \
        >log 2>&1 || fail "$task is not trained"
    expect $task plain model 0 ''
    expect $task plain evaluate 0 ''
    expect $task plain resume 0 ''
done
data regress units

unknown='is not the name of one of the'
expect classify renamed model 0 '^head: 2 rows stay (b, c), 1 row is new (z), 1 row is gone (a)$'
expect classify renamed evaluate 1 "$unknown"
expect classify renamed resume 1 "$unknown"
expect classify more model 0 '^head: 3 rows stay (a, b, c), 1 row is new (d)$'
expect classify more evaluate 1 "$unknown"

expect segment order model 0 '^classes: the data have the network.s in another order; they are matched by name$'
expect segment order evaluate 0 'lists "c" before "b", .* they are matched by name$'
expect segment order resume 1 'names, classes or labels differ'
expect segment renamed model 0 '^head: 3 rows stay (none, b, c), 1 row is new (z), 1 row is gone (a)$'
expect segment renamed evaluate 1 "the label \"z\" $unknown"
expect segment renamed resume 1 "the label \"z\" $unknown"
expect segment more model 0 '^head: 4 rows stay (none, a, b, c), 1 row is new (d)$'
expect segment more evaluate 1 "the label \"d\" $unknown"

tune detect plain && plain_loss=$(loss)
expect detect order model 0 '^classes: the data have the network.s in another order; they are matched by name$'
expect detect order evaluate 0 ''
expect detect renamed model 0 '^head: 2 rows stay (b, c), 1 row is new (z), 1 row is gone (a)$'
expect detect renamed evaluate 1 "the label \"z\" $unknown"
expect detect more model 0 '^head: 3 rows stay (a, b, c), 1 row is new (d)$'
expect detect more evaluate 0 ''

tune regress plain && plain_loss=$(loss)
expect regress order model 0 '^classes: the data have the network.s in another order; they are matched by name$'
expect regress order evaluate 0 'they are matched by name$'
expect regress renamed model 0 '^head: 1 row stays (top), 1 row is new (right), 1 row is gone (left)$'
expect regress renamed evaluate 1 'has the column "right"; expected "left"'
expect regress more model 1 'the network answers 2 numbers, and the data have 3'
expect regress more evaluate 1 'has 3 numbers for an image; expected 2'
expect regress units model 0 '^units: "left" has the mean .*; it goes on in the data.s unit$'
expect regress units evaluate 0 '"left" of the data has the mean .*: is it in another unit?$'
expect regress units resume 1 'names, classes or labels differ'

tune keypoints plain && plain_loss=$(loss)
expect keypoints order model 0 '^classes: the data have the network.s in another order; they are matched by name$'
expect keypoints order evaluate 0 'they are matched by name$'
expect keypoints renamed model 0 '^head: 1 row stays (tail_x), 1 row is new (ear_x), 1 row is gone (nose_x)$'
expect keypoints renamed evaluate 1 'has the column "ear_x"; expected "nose_x"'
expect keypoints more model 0 '^head: 2 rows stay (nose_x, tail_x), 1 row is new (eye_x)$'
expect keypoints more evaluate 1 'has 6 numbers for an image; expected 4'

[ $checked -ge 40 ] || fail "only $checked cases"
echo "test_names: $checked cases"
