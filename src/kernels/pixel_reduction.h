/* Reductions over the pixels of whole groups of images, each channel by itself: passes that any
 * operation may plan whose result is a vector of the channels.
 *
 * The rows of a group's images are cut into runs. Portable rows plan ping-pong passes: in the first an
 * invocation reduces a run to a column of a scratch texture array; merging passes read one scratch
 * array and write the other, in turns, until few columns are left, which the last pass writes to
 * vectors. The order is fixed by the shape alone. */
#ifndef GLCNN_KERNELS_PIXEL_REDUCTION_H
#define GLCNN_KERNELS_PIXEL_REDUCTION_H

#include "encode/descriptor.h"

/* What passes make of runs. */
struct reduction_kind {
    uint32_t quantities;    /* texels that a run leaves of a slice */
    const char *merge;      /* texture "partial", image "merged"; merges FAN_IN columns into one */
    bool merges_quantities; /* all of a group by one invocation; else each by one of its own */
    const char *finish;     /* texture "partial": of the last columns to vectors */
    bool finish_reads_source;
    const char *library; /* what `finish` calls to write, for those that have no such pass */
};

/* The problem that rows of a list are asked about and plan. */
struct pixel_reduction {
    const struct image_view *source;
    uint32_t groups;                       /* equal ones, of images that follow each other */
    uint32_t rows, image_rows, row_pixels; /* of a group, of an image, and of a row */
    const struct reduction_kind *kind;
    /* What the pass over the pixels reads beside the source, NULL: nothing; and the vectors that the
     * last pass writes. */
    void (*read)(struct pass *pass, const void *of);
    void (*write)(struct pass *pass, const void *of);
    const void *of;
};

/* Of all pixels of all images. The caller adds `kind` and what follows. */
struct pixel_reduction pixel_reduction_of_images(const struct image_view *source, uint32_t groups);
/* The same, of the results of the forward encode that take part in a gradient kernel. */
struct pixel_reduction pixel_reduction_of_results(const struct operation *o,
                                                  const struct image_view *source, uint32_t groups);

/* The form of a row that pixel_reduction_plan plans: pixels that are taken together, at most. */
struct pixel_block {
    uint32_t pixels;
};

/* For rows: ping-pong passes. The row's shader reads pixels of texture "source" and writes column at.x
 * of "merged" for slice at.y and group at.z: of rows at.x * span and on, counted through the group's
 * images. Uniforms rows, image_rows, row_pixels, span, runs; define BLOCK, pixels that are best taken
 * together. */
void pixel_reduction_plan(struct plan *plan, const struct implementation *row,
                          const void *reduction);

/* How rows are cut: runs for all slices of all groups, of one of them at least and at most, and
 * pixels of a run at least. */
struct pixel_cut {
    uint32_t runs, fewest, most, pixels;
};

/* For planners of other passes over the pixels: rows of a run, and the uniforms of runs. */
uint32_t pixel_reduction_span(const struct pixel_reduction *reduction, const struct pixel_cut *cut);
void pass_runs(struct pass *pass, const struct pixel_reduction *reduction, uint32_t span,
               uint32_t runs);

/* Last-block reduction: the work groups of a pass write so many `numbers` of a slice for each run, of
 * slices of groups of images, and the last of them merges all (pixel_reduction/last_block.glsl). */
struct block_results {
    uint32_t slices, groups, runs, numbers;
};
void pass_last_block(struct plan *plan, struct pass *pass, const struct block_results *results);

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
/* For descriptors: whether the pass that stores the pixels reduces them. */
extern const struct implementation_list pixel_reduction_places;

/* Where every quantity is a sum. */
extern const struct reduction_kind pixel_reduction_sum, pixel_reduction_two_sums;
/* Vectors that pixel_reduction/finish_sums.glsl writes to, one for each quantity, of group after
 * group; `accumulate`: it adds to them. */
void pixel_reduction_results(struct pass *pass, uint32_t quantities,
                             const struct vector_view *const sums[], bool accumulate);

/* A message and false if no result of the forward encode takes part. */
bool pixel_reduction_check(const struct operation *o, const struct image_view *gradient,
                           struct validation validation);

#endif
