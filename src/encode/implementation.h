/* Implementations: several ways to run one part of an operation, of which devices want different
 * ones.
 *
 * Each choice is one ordered list, from the row that asks most of a device to the portable one, which
 * suits all and stands last. The first row is taken whose needs the device meets, that supports the
 * problem and is profitable for it, and whose programs the driver ran. Rows of src/desktop, which
 * register themselves by the name of the list, stand before those of the list.
 * GLCNN_IMPLEMENTATIONS=NAME,... forces rows, and with GLCNN_TUNE timed trials choose between those
 * that may be taken (tune.h). All rows give the same result within rounding. Making something faster
 * for one kind of device adds a row. */
#ifndef GLCNN_IMPLEMENTATION_H
#define GLCNN_IMPLEMENTATION_H

#include "record/pass.h"

struct plan;
struct glcnn_descriptor;

/* What a row asks of the problem, which the family tells as it likes; `holds` NULL: nothing. */
struct condition {
    bool (*holds)(const void *problem);
    /* "windows of at most 15 pixels": completes "which needs" or "which gains only with". */
    const char *phrase;
};

struct implementation {
    const char *name;   /* "convolution_wide" */
    const char *shader; /* where rows have different ones */
    /* Needs of a device, by its traits: four-component values that an invocation keeps at once,
     * shared memory that lies on the chip, loads of one address that cost less than fetches, stores
     * that cost more than loads, pixels that cost less to recompute than to store, dispatches that are
     * submitted one by one, invocations that run in step, and storage blocks of a pass where they may
     * be more than the 4 of every device. */
    uint32_t registers;
    bool shared_memory, uniform_loads, slow_image_stores, recomputes_pixels, submits_dispatches;
    uint32_t width, buffers;
    /* Whether it can compute the problem, and whether it is faster there than the rows behind it. A
     * row that is forced need not be profitable. */
    struct condition supported, profitable;
    /* Plans the passes of the problem by this row. NULL where the family only asks for its form. */
    void (*plan)(struct plan *plan, const struct implementation *row, const void *problem);
    const void *form; /* what the family says of this row */
};

struct implementation_list {
    const char *name;                  /* "convolution_sum" */
    const struct implementation *rows; /* name NULL at the end */
};

/* Rows of src/desktop, each list by the name of the one that it stands before; NULL at the end. */
extern const struct implementation_list *const glcnn_desktop_registry[];

/* A walk over the rows of a list, desktop rows first: from its start, and to the next row, NULL beyond
 * the last. */
struct implementation_walk {
    const struct implementation *next, *then; /* `then`: what follows the desktop rows */
};
struct implementation_walk implementation_walk_of(const struct implementation_list *list);
const struct implementation *implementation_next(struct implementation_walk *walk);

/* The row to plan with; never NULL. The last row is not asked about the problem, and stands in where
 * the plan has failed. At log level debug each row that is passed over is told with its reason. */
const struct implementation *implementation_choose(struct plan *plan,
                                                   const struct implementation_list *list,
                                                   const void *problem);
/* Chooses a row, and plans by it. */
void implementation_plan(struct plan *plan, const struct implementation_list *list,
                         const void *problem);
/* Says that the pass is planned by a row, so that the next can be taken if it does not run. */
void pass_implementation(struct pass *pass, const struct implementation *row);
/* The same of all passes from number `first` on, whatever they were said to be. */
void plan_implementation(struct plan *plan, size_t first, const struct implementation *row);

/* Does GLCNN_IMPLEMENTATIONS name a row that the kernel may take, or none at all? */
bool implementations_concern(const struct glcnn_device *device,
                             const struct glcnn_descriptor *descriptor);

/* Every name of GLCNN_IMPLEMENTATIONS has a row somewhere; else a message that lists all. */
glcnn_status implementations_check(struct glcnn_device *device);

#endif
