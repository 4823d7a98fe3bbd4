/* Partial sums of the gradient of convolutions' weights by work groups that share memory: tiles of a
 * product of matrices, and, where an element has one component, lanes that each take some
 * pixels. */
#include "desktop/convolution.h"

#include <math.h>

/* Vectors of four elements and slices of a tile, most and fewest of them, pixels that it keeps, and
 * invocations of a group, all as in the shaders. */
#define TILE_VECTORS   32u
#define FEWEST_VECTORS 8u
#define TILE_SLICES    32u
#define FEWEST_SLICES  4u
#define GROUP_SIZE     128u
#define GROUP_SUMS     (4 * GROUP_SIZE) /* vectors times slices */
#define KEPT_PIXELS    16u
#define TURN_PIXELS    128u
#define LARGE_IMAGES   ((uint64_t)64 << 20) /* bytes, more than caches hold */
#define CHUNK_PIXELS   32u                  /* that make a chunk of tiles worth its partial sums */
#define LANE_PIXELS    8u                   /* the same for each lane */
#define FEWEST_GROUPS  4u    /* that are faster than invocations which each go through all pixels */
#define ALL_GROUPS     1024u /* fill the largest GPUs */
#define SUM_PIXELS     2048.0      /* that are read while a number is stored and added up */
#define PART_BYTES     (32u << 20) /* of partial sums, unless one chunk takes more */

/* How a chunk is divided among groups. */
struct division {
    uint32_t y, z;
    uint32_t splits;          /* of a chunk, each of which leaves partial sums */
    uint32_t pixels;          /* that a chunk has at least */
    uint32_t work;            /* of an invocation, for each pixel of a chunk */
    uint32_t vectors, slices; /* of a tile */
};

static uint32_t doubled_to(uint32_t from, uint32_t wanted, uint32_t most)
{
    while (from < wanted && from < most)
        from *= 2;
    return from;
}

/* The fewest vectors that hold all elements, if any do, and then the fewest slices. */
static struct division tiles_of(const struct packing *p)
{
    uint32_t vectors = doubled_to(FEWEST_VECTORS, groups_of(p->elements, 4), TILE_VECTORS);
    uint32_t slices =
        doubled_to(FEWEST_SLICES, p->slices, least(GROUP_SUMS / vectors, TILE_SLICES));
    uint32_t splits = GROUP_SUMS / (vectors * slices);
    return (struct division){groups_of(p->elements, 4 * vectors),
                             groups_of(p->slices, slices),
                             splits,
                             CHUNK_PIXELS,
                             16 * 8 / splits,
                             vectors,
                             slices};
}

static struct division lanes_of(const struct packing *p, uint32_t taps)
{
    return (struct division){groups_of((uint32_t)p->layer_taps, taps), p->slices * p->range, 1,
                             GROUP_SIZE * LANE_PIXELS, groups_of(taps * 16, GROUP_SIZE)};
}

bool weights_are_product(const void *weights_problem)
{
    return packing_is_dense(&((const struct weights_problem *)weights_problem)->packing);
}

bool weights_are_single(const void *weights_problem)
{
    return ((const struct weights_problem *)weights_problem)->packing.components == 1;
}

uint32_t weights_pixels(const struct operation *o)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    return (uint32_t)(x->end - x->begin) * (uint32_t)(y->end - y->begin) *
           o->images[GRADIENT].images;
}

/* A tile that is mostly empty is no gain: half of the smallest is full. */
bool weights_fill_tiles(const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    const struct packing *p = &problem->packing;
    const struct division tiles = tiles_of(p);
    return p->slices >= FEWEST_SLICES / 2 && p->elements >= 4 * FEWEST_VECTORS / 2 &&
           tiles.y * tiles.z * groups_of(weights_pixels(problem->operation), tiles.pixels) >=
               FEWEST_GROUPS;
}

/* A chunk's partial sums take as long to be stored and added up as some of its pixels to be read. Of
 * n chunks the longest has 1 / n of the pixels and there are n partial sums: both together are least
 * where n * n = pixels * SUM_PIXELS / numbers of a partial sum. */
static uint32_t balanced_chunks(const struct packing *p, const struct division *s, uint32_t pixels)
{
    double numbers = (double)p->slices * (p->elements + 1) * s->splits;
    return (uint32_t)sqrt(pixels * SUM_PIXELS / numbers) + 1;
}

/* `numbers` of four have room for their partial sums, or for those of one. */
static uint32_t chunks_of(const struct packing *p, const struct division *s, uint32_t pixels,
                          uint32_t numbers)
{
    uint32_t wanted = groups_of(ALL_GROUPS, s->y * s->z);
    uint32_t room = numbers / (p->slices * (p->elements + 1) * s->splits);
    uint32_t most = least(groups_of(pixels, s->pixels), room ? room : 1);
    return least(least(wanted, most), balanced_chunks(p, s, pixels));
}

/* A single partial sum is the gradient itself, and can be stored as one where an element's four
 * inputs lie side by side. */
static bool is_whole(const struct operation *o, const struct division *s, uint32_t chunks)
{
    return chunks * s->splits == 1 && convolution_channels(o).inputs % 4 == 0;
}

static bool has_one_pixel(const struct operation *o)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    return x->end - x->begin == 1 && y->end - y->begin == 1;
}

/* How the pixels are divided into chunks. */
struct chunks {
    uint32_t pixels, per_chunk, count;
};

static struct chunks divide(const struct weights_problem *problem, const struct division *d)
{
    uint32_t pixels = weights_pixels(problem->operation);
    uint32_t wanted =
        chunks_of(&problem->packing, d, pixels, plan_workspace_vec4s(problem->plan, PART_BYTES));
    uint32_t per_chunk = groups_of(pixels, wanted);
    return (struct chunks){pixels, per_chunk, groups_of(pixels, per_chunk)};
}

static void pass_groups(struct pass *pass, const struct weights_problem *problem,
                        const struct division *d, const struct chunks *chunks)
{
    pass_int(pass, "stride_x", problem->operation->window.x.stride);
    pass_int(pass, "dilation_x", problem->operation->window.x.dilation);
    pass_int(pass, "pixel_total", (int32_t)chunks->pixels);
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = chunks->per_chunk * d->work;
}

/* ---- Lanes ---- */

#define LANE_TAPS 9u

void plan_weights_group(struct plan *plan, const struct implementation *row,
                        const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    const struct packing *p = &problem->packing;
    const struct division d = lanes_of(p, LANE_TAPS);
    const struct chunks chunks = divide(problem, &d);
    struct partial_sums sums;
    struct pass *pass = plan_partial_sums(plan, row, problem, chunks.count, &sums);
    pass_define(pass, "TAPS", (int)least(LANE_TAPS, (uint32_t)p->layer_taps));
    pass_define(pass, "LANES", GROUP_SIZE);
    pass_groups(pass, problem, &d, &chunks);
    pass_int(pass, "pixels_per_chunk", (int32_t)chunks.per_chunk);
    pass_grid(pass, chunks.count * GROUP_SIZE, d.y, d.z);
    implementation_plan(plan, &convolution_partial_sum_implementations, &sums);
}

/* ---- Tiles ---- */

static uint64_t bytes_of(const struct image_view *image)
{
    uint64_t pixels = (uint64_t)image->width * image->height * image->images;
    return pixels * slice_count(image->channels) * 16;
}

/* Of small images a chunk has its pixels in one turn, and finds what windows share in its cache. */
static uint32_t turn_pixels(const struct operation *o, uint32_t per_chunk)
{
    bool large = bytes_of(&o->images[IMAGE]) + bytes_of(&o->images[GRADIENT]) >= LARGE_IMAGES;
    uint32_t turns = large ? per_chunk / TURN_PIXELS : 1;
    return groups_of(groups_of(per_chunk, turns ? turns : 1), KEPT_PIXELS) * KEPT_PIXELS;
}

/* Tiles of a chunk follow each other, and find what they share in caches. */
static void pass_tiles(struct pass *pass, const struct weights_problem *problem,
                       const struct division *d, const struct chunks *chunks)
{
    const struct operation *o = problem->operation;
    pass_define(pass, "VECTORS", (int)d->vectors);
    pass_define(pass, "SLICES", (int)d->slices);
    if (has_one_pixel(o))
        pass_define(pass, "ONE_PIXEL", 1);
    pass_groups(pass, problem, d, chunks);
    pass_int(pass, "turn_pixels", (int32_t)turn_pixels(o, chunks->per_chunk));
    pass_int(pass, "chunk_count", (int32_t)chunks->count);
    pass_grid(pass, d->y * GROUP_SIZE, d->z, chunks->count);
}

static void plan_whole_tiles(struct plan *plan, const struct implementation *row,
                             const struct weights_problem *problem, const struct division *d,
                             const struct chunks *chunks)
{
    struct pass *pass = plan_weights_pass(plan, row, problem);
    pass_define(pass, "WHOLE", 1);
    pass_library(pass, "convolution/convolution_gradient.glsl");
    pass_gradients(pass, "vec4", problem->operation);
    pass_int(pass, "output_count", (int32_t)problem->packing.channels.outputs);
    pass_tiles(pass, problem, d, chunks);
}

void plan_weights_tiled(struct plan *plan, const struct implementation *row,
                        const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    const struct division d = tiles_of(&problem->packing);
    const struct chunks chunks = divide(problem, &d);
    struct partial_sums sums;
    if (is_whole(problem->operation, &d, chunks.count)) {
        plan_whole_tiles(plan, row, problem, &d, &chunks);
        return;
    }
    struct pass *pass = plan_partial_sums(plan, row, problem, chunks.count * d.splits, &sums);
    pass_tiles(pass, problem, &d, &chunks);
    implementation_plan(plan, &convolution_partial_sum_implementations, &sums);
}
