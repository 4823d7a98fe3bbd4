/* Variants: several ways to run one family of passes, of which devices want different ones.
 *
 * A table stands with the passes of its family, from the row that asks most of a device to the one
 * that asks least and suits all. The first that suits the device's traits is taken, without those
 * whose programs its driver did not run; GLCNN_VARIANTS=NAME,... forces rows, and with GLCNN_TUNE
 * timed trials choose between those that suit (tune.h). All rows give the same result within
 * rounding. Making something faster for one kind of device adds a row. */
#ifndef GLCNN_VARIANT_H
#define GLCNN_VARIANT_H

#include "record/pass.h"

struct plan;

struct variant {
    const char *name;   /* "convolution_wide" */
    const char *shader; /* where rows have different ones */
    /* What it asks for: four-component values that an invocation keeps at once, shared memory that
     * lies on the chip, stores that cost more than a value made again, invocations that run in
     * step, and buffers of a pass where they may be more than the 4 of every device. */
    uint32_t registers;
    bool shared_memory, slow_image_stores;
    uint32_t width, buffers;
    /* Whether it can make what is planned, and whether it pays, told as the family tells it; NULL:
     * always. A row that is forced need not pay. */
    bool (*can)(const void *shape), (*pays)(const void *shape);
    /* What an invocation takes at once, of those that the family speaks of. */
    uint32_t pixels, slices, taps, images;
    bool down;     /* pixels lie in a column */
    bool tiles;    /* the lanes of a group lie in a tile of pixels */
    bool masks;    /* chooses between vectors by bit masks */
    bool packs;    /* what it keeps of float16 images are halves */
    bool fours;    /* walks slices four at a time */
    bool arrives;  /* the last group of a sum to arrive finishes it */
    bool in_place; /* weights are read as the user has them */
    bool close;    /* to the next row that suits: which is faster a quick trial may tell */
};

/* The row to plan with; never NULL. `shape` is what rows are asked about, the last one excepted.
 * That row stands in where the plan has failed. */
const struct variant *variant_choose(struct plan *plan, const struct variant *table,
                                     const void *shape);
/* Says that the pass is made as a row says, so that the next can be taken if it does not run. */
void pass_variant(struct pass *pass, const struct variant *variant);
/* The same of all passes from number `first` on, whatever they were said to be. */
void plan_variant(struct plan *plan, size_t first, const struct variant *variant);

/* Every name of GLCNN_VARIANTS has a row somewhere; else a sentence that lists all. */
glcnn_status variants_check(struct glcnn_device *device);

#endif
