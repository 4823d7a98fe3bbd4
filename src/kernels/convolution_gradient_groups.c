/* Part sums of the gradient of convolutions' weights by work groups that share memory: tiles of a
 * product of matrices, and, where an element has one component, lanes that each take some
 * pixels. */
#include <math.h>

#include "kernels/convolution_plan.h"

/* Quads of elements and slices of a tile, most and fewest of them, pixels that it keeps, and
 * invocations of a group, all as in the shaders. */
#define TILE_QUADS    32u
#define FEWEST_QUADS  8u
#define TILE_SLICES   32u
#define FEWEST_SLICES 4u
#define GROUP_SIZE    128u
#define GROUP_SUMS    (4 * GROUP_SIZE) /* quads times slices */
#define KEPT_PIXELS   16u
#define TURN_PIXELS   128u
#define LARGE_IMAGES  ((uint64_t)64 << 20) /* bytes, more than caches hold */
#define CHUNK_PIXELS  32u                  /* that make a chunk of tiles worth its part sums */
#define LANE_PIXELS   8u                   /* the same for each lane */
#define FEWEST_GROUPS 4u    /* that are faster than invocations which go through the pixels alone */
#define ALL_GROUPS    1024u /* fill the largest GPUs */
#define PART_PIXELS   2048.0 /* that are read while a number of a part is stored and added up */
#define PART_BYTES    (32u << 20) /* of part sums, unless one chunk takes more */

/* The groups of a chunk. */
struct share {
    uint32_t y, z;
    uint32_t parts;         /* that a group leaves */
    uint32_t pixels;        /* that a chunk has at least */
    uint32_t work;          /* of an invocation, for each pixel of a chunk */
    uint32_t quads, slices; /* of a tile */
};

static uint32_t doubled_to(uint32_t from, uint32_t wanted, uint32_t most)
{
    while (from < wanted && from < most)
        from *= 2;
    return from;
}

/* The fewest quads that hold all elements, if any do, and then the fewest slices. The 9 quads of a
 * first layer in colour, of 3x3 taps, take 0.63 of the time by 16 that they take by 32 (H200). */
static struct share tiles_of(const struct packing *p)
{
    uint32_t quads = doubled_to(FEWEST_QUADS, groups_of(p->elements, 4), TILE_QUADS);
    uint32_t slices = doubled_to(FEWEST_SLICES, p->slices, least(GROUP_SUMS / quads, TILE_SLICES));
    uint32_t parts = GROUP_SUMS / (quads * slices);
    return (struct share){groups_of(p->elements, 4 * quads),
                          groups_of(p->slices, slices),
                          parts,
                          CHUNK_PIXELS,
                          16 * 8 / parts,
                          quads,
                          slices};
}

static struct share lanes_of(const struct packing *p, uint32_t taps)
{
    return (struct share){groups_of((uint32_t)p->layer_taps, taps), p->slices * p->range, 1,
                          GROUP_SIZE * LANE_PIXELS, groups_of(taps * 16, GROUP_SIZE)};
}

bool weights_are_product(const void *shape)
{
    return packing_is_dense(((const struct part_shape *)shape)->packing);
}

bool weights_are_single(const void *shape)
{
    return ((const struct part_shape *)shape)->packing->components == 1;
}

/* A tile that is mostly empty is no gain: half of the smallest is full. */
bool weights_fill_tiles(const void *shape)
{
    const struct part_shape *s = shape;
    const struct share tiles = tiles_of(s->packing);
    return s->packing->slices >= FEWEST_SLICES / 2 &&
           s->packing->elements >= 4 * FEWEST_QUADS / 2 &&
           tiles.y * tiles.z * groups_of(s->pixels, tiles.pixels) >= FEWEST_GROUPS;
}

/* A chunk's parts take as long to be stored and added up as some of its pixels to be read. Of n
 * chunks the longest has 1 / n of the pixels and there are n parts: both together are least where
 * n * n = pixels * PART_PIXELS / numbers of a part. */
static uint32_t balanced_chunks(const struct packing *p, const struct share *s, uint32_t pixels)
{
    double numbers = (double)p->slices * (p->elements + 1) * s->parts;
    return (uint32_t)sqrt(pixels * PART_PIXELS / numbers) + 1;
}

/* `quads` have room for their part sums, or for those of one. */
static uint32_t chunks_of(const struct packing *p, const struct share *s, uint32_t pixels,
                          uint32_t quads)
{
    uint32_t wanted = groups_of(ALL_GROUPS, s->y * s->z);
    uint32_t room = quads / (p->slices * (p->elements + 1) * s->parts);
    uint32_t most = least(groups_of(pixels, s->pixels), room ? room : 1);
    return least(least(wanted, most), balanced_chunks(p, s, pixels));
}

uint32_t weights_pixels(const struct operation *o)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    return (uint32_t)(x->end - x->begin) * (uint32_t)(y->end - y->begin) *
           o->images[GRADIENT].images;
}

/* A single part is the gradient itself, and can be stored as one where an element's four inputs lie
 * side by side. */
static bool is_whole(const struct operation *o, const struct share *s, uint32_t chunks)
{
    return chunks * s->parts == 1 && convolution_channels(o).inputs % 4 == 0;
}

static bool has_one_pixel(const struct operation *o)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    return x->end - x->begin == 1 && y->end - y->begin == 1;
}

static struct pass *plan_tiles(const struct operation *o, struct plan *plan,
                               const struct packing *p, const struct implementation *row,
                               const struct share *s, uint32_t chunks, struct parts *parts)
{
    struct pass *pass;
    if (is_whole(o, s, chunks)) {
        pass = plan_parts_pass(o, plan, p, row);
        pass_define(pass, "WHOLE", 1);
        pass_library(pass, "convolution/convolution_gradient.glsl");
        pass_gradients_of(pass, "vec4", o);
        pass_int(pass, "output_count", (int32_t)p->channels.outputs);
        parts->chunks = 0;
    } else
        pass = plan_parts(o, plan, p, row, chunks * s->parts, parts);
    pass_define(pass, "QUADS", (int)s->quads);
    pass_define(pass, "SLICES", (int)s->slices);
    if (has_one_pixel(o))
        pass_define(pass, "ONE_PIXEL", 1);
    return pass;
}

static struct pass *plan_lanes(const struct operation *o, struct plan *plan,
                               const struct packing *p, const struct implementation *row,
                               uint32_t chunks, struct parts *parts)
{
    struct pass *pass = plan_parts(o, plan, p, row, chunks, parts);
    pass_define(pass, "TAPS", (int)least(row->taps, (uint32_t)p->layer_taps));
    pass_define(pass, "LANES", GROUP_SIZE);
    return pass;
}

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

void plan_groups(const struct operation *o, struct plan *plan, const struct packing *p,
                 const struct implementation *row, struct parts *parts)
{
    const struct share s = row->taps ? lanes_of(p, row->taps) : tiles_of(p);
    uint32_t pixels = weights_pixels(o);
    uint32_t wanted = chunks_of(p, &s, pixels, plan_workspace_vec4s(plan, PART_BYTES));
    uint32_t per_chunk = groups_of(pixels, wanted);
    uint32_t chunks = groups_of(pixels, per_chunk);
    struct pass *pass = row->taps ? plan_lanes(o, plan, p, row, chunks, parts)
                                  : plan_tiles(o, plan, p, row, &s, chunks, parts);
    pass_int(pass, "stride_x", o->window.x.stride);
    pass_int(pass, "dilation_x", o->window.x.dilation);
    pass_int(pass, "pixel_total", (int32_t)pixels);
    if (row->taps) {
        pass_int(pass, "pixels_per_chunk", (int32_t)per_chunk);
        pass_grid(pass, chunks * GROUP_SIZE, s.y, s.z);
    } else { /* tiles of a chunk follow each other, and find what they share in caches */
        pass_int(pass, "turn_pixels", (int32_t)turn_pixels(o, per_chunk));
        pass_int(pass, "chunk_count", (int32_t)chunks);
        pass_grid(pass, s.y * GROUP_SIZE, s.z, chunks);
    }
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = per_chunk * s.work;
}
