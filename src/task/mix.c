/* What pictures are mixed by. */
#include "mix.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"

bool mix_begin(const struct augment *augment, uint64_t seed, uint32_t width, uint32_t height,
               uint32_t batch, struct mix *mix)
{
    const bool cuts = augment->cutmix > 0;
    *mix = (struct mix){.mixup = augment->mixup,
                        .cutmix = augment->cutmix,
                        .seed = seed,
                        .width = cuts ? width : 1,
                        .height = cuts ? height : 1,
                        .batch = batch};
    mix->mask = calloc((size_t)mix->width * mix->height * batch, sizeof *mix->mask);
    mix->shares = calloc(batch, sizeof *mix->shares);
    return mix->mask && mix->shares;
}

void mix_end(struct mix *mix)
{
    free(mix->mask);
    free(mix->shares);
    *mix = (struct mix){.batch = 0};
}

/* ---- Numbers ---- */

/* In 0 .. 1, without both. */
static double uniform(uint64_t *random)
{
    return ((double)(random_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller 1958. */
static double normal(uint64_t *random)
{
    const double radius = sqrt(-2 * log(uniform(random)));
    return radius * cos(2 * acos(-1) * uniform(random));
}

/* Of shape 1 or more: Marsaglia and Tsang 2000. */
static double gamma_above(double shape, uint64_t *random)
{
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = normal(random), v = pow(1 + c * x, 3);
        if (v > 0 && log(uniform(random)) < x * x / 2 + d - d * v + d * log(v))
            return d * v;
    }
}

static double gamma_of(double shape, uint64_t *random)
{
    if (shape >= 1)
        return gamma_above(shape, random);
    const double above = gamma_above(shape + 1, random);
    return above * pow(uniform(random), 1 / shape);
}

/* Of so small shapes that both are 0 one is as good as the other. */
static double beta(double shape, uint64_t *random)
{
    const double x = gamma_of(shape, random), y = gamma_of(shape, random);
    return x + y > 0 ? x / (x + y) : uniform(random) < 0.5;
}

/* ---- Masks ---- */

static void fill(const struct mix *mix, uint32_t n, float value)
{
    const size_t pixels = (size_t)mix->width * mix->height;
    for (size_t i = 0; i < pixels; i++)
        mix->mask[n * pixels + i] = value;
    mix->shares[n] = value;
}

/* Where a range of that length about a place that is drawn begins and ends. */
struct range {
    uint32_t begin, end;
};

static struct range draw_range(uint32_t size, double part, uint64_t *random)
{
    const double length = floor(size * part), place = floor(size * uniform(random)),
                 begin = place - floor(length / 2), end = begin + length;
    return (struct range){(uint32_t)fmax(begin, 0), (uint32_t)fmin(end, size)};
}

static void cut(const struct mix *mix, uint32_t n, uint64_t *random)
{
    const double side = sqrt(beta((double)mix->cutmix, random));
    const struct range x = draw_range(mix->width, side, random),
                       y = draw_range(mix->height, side, random);
    const size_t pixels = (size_t)mix->width * mix->height;
    fill(mix, n, 0);
    for (uint32_t row = y.begin; row < y.end; row++)
        for (uint32_t column = x.begin; column < x.end; column++)
            mix->mask[n * pixels + (size_t)row * mix->width + column] = 1;
    mix->shares[n] = (float)((double)(x.end - x.begin) * (y.end - y.begin) / (double)pixels);
}

static bool is_cut(const struct mix *mix, uint64_t *random)
{
    const bool second = uniform(random) < 0.5;
    return mix->mixup > 0 ? mix->cutmix > 0 && second : true;
}

void mix_draw(struct mix *mix, const struct glcnn_data_batch *batch)
{
    for (uint32_t n = 0; n < mix->batch; n++) {
        uint64_t random = augment_random(mix->seed, batch->epoch, batch->indices[n]);
        if (is_cut(mix, &random))
            cut(mix, n, &random);
        else
            fill(mix, n, (float)beta((double)mix->mixup, &random));
    }
}
