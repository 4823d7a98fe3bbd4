/* Reductions over the pixels of whole groups of images, each channel apart: passes that any
 * operation may plan whose result is a vector of the channels.
 *
 * The rows of a group's images are cut into runs, one invocation each or, in implementations with shared
 * memory, one work group, whose results are the columns of a scratch image; passes then merge
 * PIXEL_FAN_IN columns into one, from one scratch image to the other and back; the last writes
 * vectors. In implementations that `arrive` groups leave their results in a buffer, and the last of a slice
 * finishes: there is one pass. The order is fixed by the shape alone. */
#ifndef GLCNN_KERNELS_PIXEL_REDUCTION_H
#define GLCNN_KERNELS_PIXEL_REDUCTION_H

#include "encode/descriptor.h"

struct pixel_reduction {
    const struct implementation *row; /* of the first pass */
    struct pass *first;               /* until another is planned */
    /* Scratch: columns are runs, image quantities * group + quantity. `from` was written last. */
    struct image_view from, to;
    uint32_t groups, quantities, channels, rows, image_rows, row_pixels, span, runs;
};

/* For rows of a table that `arrive` and whose lanes lie in `tiles`, which are asked about a reduction:
 * whether rows of pixels are whole numbers of blocks of them, and whether these are many. */
bool pixel_reduction_has_tiles(const void *reduction);
bool pixel_reduction_fills_tiles(const void *reduction);

/* Of all pixels of all images, in equal groups of images that follow each other. */
struct pixel_reduction pixel_reduction_begin(struct plan *plan,
                                             const struct implementation_list *list,
                                             struct extent extent, uint32_t groups,
                                             uint32_t quantities);
/* The same, of the results of the forward encode that take part in a gradient kernel. */
struct pixel_reduction pixel_reduction_of_results(struct plan *plan,
                                                  const struct implementation_list *list,
                                                  const struct operation *o,
                                                  const struct image_view *source, uint32_t groups,
                                                  uint32_t quantities);

/* The pass that reads pixels of texture "source" and writes column at.x of "merged" for slice at.y
 * and group at.z: of rows at.x * span and on, counted through the group's images. Uniforms rows,
 * image_rows, row_pixels, span, runs; define BLOCK, pixels that are best taken together, which the
 * table bounds by `pixels`. Where a row of the table asks for shared memory LANES invocations, a
 * work group, make a column: at.x / LANES. */
struct pass *pixel_reduction_first(struct plan *plan, struct pixel_reduction *r,
                                   const struct image_view *source);
/* Of the first pass, where a group makes a run of it: uniforms turn_rows, turns. Runs then take
 * turns, of `turn_rows` rows each. */
void pixel_reduction_take_turns(struct pass *pass, const struct pixel_reduction *reduction);
/* Passes until no more than PIXEL_FAN_IN columns are left, of texture "partial", each with grid z
 * of `apart`; none where groups finish by themselves. */
#define PIXEL_FAN_IN 32
void pixel_reduction_merge(struct plan *plan, struct pixel_reduction *r, const char *shader,
                           uint32_t apart);
/* The pass that merges the last columns of each group, to be given vectors: one of its own, or the
 * first where its groups finish by themselves; that one takes its libraries from the caller. */
struct pass *pixel_reduction_finish(struct plan *plan, const struct pixel_reduction *r,
                                    const char *shader, bool accumulate);

/* Or no pass at all: the one that stores `source` reduces what it stores, in the library `epilogue`
 * (pixel_reduction/epilogue.glsl), whose runs each leave so many `numbers` of a slice, and whose last group
 * writes the `results`. NULL where there is none that can. The caller gives it what the library needs,
 * the results too. */
struct pass *pixel_reduction_epilogue(struct plan *plan, const struct image_view *source,
                                      const char *epilogue, uint32_t numbers,
                                      const struct vector_view *const results[], size_t count);
/* Then: whether the device and the pass have room for all that it was given, and what it reads is
 * there by then. If not, it stays as it was. */
bool pixel_reduction_has_room(struct plan *plan, const struct pass *pass);
/* For descriptors: where reductions may be made. */
extern const struct implementation_list pixel_reduction_places;

/* What pixel_reduction/finish_sums.glsl writes to. */
void pixel_reduction_results(struct pass *pass, uint32_t quantities,
                             const struct vector_view *const sums[], bool accumulate);

/* Merges and finish where every quantity is a sum: one vector for each, of group after group. */
void pixel_reduction_sums(struct plan *plan, struct pixel_reduction *r,
                          const struct vector_view *const sums[], bool accumulate);

/* A sentence and false if no result of the forward encode takes part. */
bool pixel_reduction_check(const struct operation *o, const struct image_view *gradient,
                           struct refusal refusal);

#endif
