#!/bin/sh
# Defaults learn: small forms of the sets that the recipe was measured with, drawn here, each trained by
# --task, --data and --out alone, but for --epochs where the time needs it. Pictures to learn from differ less in
# colour, light, turn and size than those to test, so that a default that is lost, as augmentation, the learning
# rate or the number of steps, falls below the bar.
#
# Runs from the top of a built tree, in make check. CC, PKG_CONFIG and O may be given. Exits 77 without a device.

. tests/tool.sh
cd "$work" || exit 1

needs_device

cat >draw.c <<'END_OF_C'
/* draw TASK train|test COUNT SIDE */
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { MOST = 64, KINDS = 6 };
static const char *const names[KINDS] = {"disc", "square", "wedge", "cross", "ring", "bar"};
static unsigned char pixels[MOST * MOST * 3], mask[MOST * MOST];
static const char *task, *part;
static int side, tests;
static double small, large, turn;

static double uniform(double low, double high)
{
    return low + (high - low) * (rand() / (RAND_MAX + 1.0));
}

static void save(const char *path, const unsigned char *bytes, int format)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)side,
                       .height = (png_uint_32)side, .format = (png_uint_32)format};
    if (!png_image_write_to_file(&image, path, 0, bytes, 0, NULL))
        exit(1);
}

static int is_inside(int kind, double u, double v)
{
    const double r = hypot(u, v), x = fabs(u), y = fabs(v);
    switch (kind) {
    case 0: return r < 0.85;
    case 1: return x < 0.75 && y < 0.75;
    case 2: return y < 0.7 && x < (v + 0.7) / 1.4 * 0.9;
    case 3: return (x < 0.25 && y < 0.95) || (y < 0.25 && x < 0.95);
    case 4: return r < 0.95 && r > 0.5;
    default: return x < 0.3 && y < 0.95;
    }
}

static void shape(int kind, double at_x, double at_y, double radius, double angle, const double *colour)
{
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < side * side; i++) {
        const double dx = (i % side + 0.5 - at_x) / radius, dy = (i / side + 0.5 - at_y) / radius;
        if (!is_inside(kind, c * dx + s * dy, c * dy - s * dx))
            continue;
        for (int k = 0; k < 3; k++)
            pixels[3 * i + k] = (unsigned char)uniform(colour[k] * 0.9, colour[k]);
        mask[i] = (unsigned char)(kind + 1);
    }
}

/* Light from one side, and noise. */
static void background(void)
{
    const double level = tests ? uniform(30, 130) : uniform(60, 80), right = uniform(-14, 14),
                 down = uniform(-14, 14);
    memset(mask, 0, sizeof mask);
    for (int i = 0; i < side * side * 3; i++)
        pixels[i] = (unsigned char)(level + right * (i / 3 % side * 2.0 / side - 1) +
                                    down * (i / 3 / side * 2.0 / side - 1) + uniform(-12, 12));
}

static void paint(double *colour)
{
    const double hue = tests ? uniform(-1.2, 1.2) : uniform(-0.2, 0.2);
    for (int k = 0; k < 3; k++)
        colour[k] = 170 + 80 * cos(hue - 2.1 * k);
}

/* Around the pixels of the mask. */
static void write_box(FILE *boxes, int kind)
{
    int left = side, right = 0, top = side, bottom = 0;
    for (int i = 0; i < side * side; i++)
        if (mask[i]) {
            left = i % side < left ? i % side : left;
            right = i % side + 1 > right ? i % side + 1 : right;
            top = i / side < top ? i / side : top;
            bottom = i / side + 1;
        }
    fprintf(boxes, "%d %f %f %f %f\n", kind, (left + right) / 2.0 / side, (top + bottom) / 2.0 / side,
            (double)(right - left) / side, (double)(bottom - top) / side);
}

static void one_shape(int n, char *path)
{
    const double r = side * uniform(small, large), x = uniform(r, side - r), y = uniform(r, side - r);
    double colour[3];
    paint(colour);
    shape(n % KINDS, x, y, r, uniform(-turn, turn), colour);
    sprintf(path, "%s/%s/%s/%03d.png", task, part, names[n % KINDS], n);
}

/* A face of two eyes, which are alike, and a mouth. */
static void face(int n, char *path, FILE *list)
{
    static const double at[3][2] = {{-0.4, -0.3}, {0.4, -0.3}, {0, 0.5}}, dark[] = {40, 40, 50};
    const double r = side * uniform(small, large), x = uniform(r, side - r), y = uniform(r, side - r),
                 angle = uniform(-turn, turn), c = cos(angle), s = sin(angle);
    double colour[3];
    paint(colour);
    shape(0, x, y, r, 0, colour);
    fprintf(list, "%03d.png", n);
    for (int k = 0; k < 3; k++) {
        const double px = x + r * (c * at[k][0] - s * at[k][1]), py = y + r * (s * at[k][0] + c * at[k][1]);
        shape(k == 2, px, py, r * 0.18, angle, dark);
        fprintf(list, ",%.2f,%.2f", px, py);
    }
    fputc('\n', list);
    sprintf(path, "%s/%s/%03d.png", task, part, n);
}

/* One in each half. */
static void two_shapes(int n, char *path, FILE *boxes)
{
    for (int half = 0; half < 2; half++) {
        const int kind = (n + 2 * half + n / KINDS % 3) % KINDS;
        const double r = side * uniform(small, large) * 0.62,
                     x = uniform(r, side / 2.0 - r) + half * side / 2.0, y = uniform(r, side - r);
        double colour[3];
        paint(colour);
        if (boxes)
            memset(mask, 0, sizeof mask);
        shape(kind, x, y, r, uniform(-turn, turn), colour);
        if (boxes)
            write_box(boxes, kind);
    }
    sprintf(path, "%s/images/%s/%03d.png", task, part, n);
}

int main(int argc, char *argv[])
{
    if (argc != 5)
        return 1;
    char path[128];
    FILE *list = NULL;
    task = argv[1];
    part = argv[2];
    side = atoi(argv[4]);
    tests = strcmp(part, "test") == 0;
    srand(tests ? 2 : 1);
    small = tests ? 0.24 : 0.29;
    large = tests ? 0.43 : 0.36;
    turn = tests ? 0.44 : 0.14;
    if (strcmp(task, "keypoints") == 0) {
        sprintf(path, "%s/%s/list.csv", task, part);
        list = fopen(path, "w");
        fputs("file,left_eye_x,left_eye_y,right_eye_x,right_eye_y,mouth_x,mouth_y\n", list);
    }
    for (int n = 0; n < atoi(argv[3]); n++) {
        FILE *boxes = NULL;
        background();
        if (strcmp(task, "detect") == 0) {
            sprintf(path, "%s/labels/%s/%03d.txt", task, part, n);
            boxes = fopen(path, "w");
        }
        if (strcmp(task, "classify") == 0)
            one_shape(n, path);
        else if (list)
            face(n, path, list);
        else
            two_shapes(n, path, boxes);
        save(path, pixels, PNG_FORMAT_RGB);
        if (boxes && fclose(boxes) != 0)
            return 1;
        sprintf(path, "%s/masks/%s/%03d.png", task, part, n);
        if (strcmp(task, "segment") == 0)
            save(path, mask, PNG_FORMAT_GRAY);
    }
    return list && fclose(list) != 0;
}
END_OF_C
$cc -O1 -o draw draw.c $($pkg_config --cflags --libs libpng) -lm || {
    echo 'test_recipes: draw.c does not compile'
    exit 1
}
classes='disc square wedge cross ring bar'
for part in train test; do
    mkdir -p detect/images/$part detect/labels/$part segment/images/$part segment/masks/$part keypoints/$part
    for class in $classes; do
        mkdir -p classify/$part/$class
    done
done
printf '%s\n' $classes >detect/classes.txt
printf '%s\n' ground $classes >segment/classes.txt

# learn TASK TRAIN TEST SIDE BAR [OPTION]...: pictures of each part, and what the test pictures have at least.
learn() {
    task=$1 train=$2 test=$3 side=$4 bar=$5
    shift 5
    ./draw "$task" train "$train" "$side" && ./draw "$task" test "$test" "$side" &&
        "$glcnn" train --task "$task" --data "$task" --out "$task.safetensors" "$@" >"$task.log" 2>&1 || {
        echo "test_recipes: $task does not train"
        cat "$task.log"
        return 1
    }
    found=$(sed -n 's/^test: .* \([0-9.]*\) on [0-9]* images, 95 % interval .*/\1/p' "$task.log")
    echo "row $task $found, at least $bar is wanted"
    awk -v found="$found" -v bar="$bar" 'BEGIN { exit !(found + 0 >= bar) }' || {
        tail -n 20 "$task.log"
        echo "test_recipes: $task reaches $found on the test pictures by its defaults; $bar is the least"
        return 1
    }
}

# By the defaults these have 0.83, 0.67, 0.55 and 0.99. Without augmentation the first has 0.53; with a tenth of the
# learning rate the first three have 0.57, 0.14 and 0.21; with a tenth of the epochs the first has 0.55.
status=0
learn classify 96 240 32 0.74 || status=1
learn detect 72 48 48 0.55 --epochs 40 || status=1
learn segment 60 60 32 0.46 --epochs 40 || status=1
learn keypoints 48 48 32 0.9 --epochs 50 || status=1
exit $status
