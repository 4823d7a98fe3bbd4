/* Recomputation: which images of a step wait for the backward pass, and which are computed again
 * there. Pure arithmetic on a model of the graph; recompute_model.c makes the model of a recording.
 *
 * Objective: the least extra time, such that at no time more bytes live than the budget. A budget
 * that holds everything costs nothing.
 *
 * A choice is a mode for each image: those that the forward pass makes may be dropped, those that
 * can be fused into their readers may be stored or not. Its schedule is the graph's steps in their
 * order; before a step stand those that make what it reads and what is gone, of whatever is still
 * there (recompute_schedule.c). This is checkpointing (Griewank and Walther, "Algorithm 799:
 * revolve", 2000; Chen et al., "Training deep nets with sublinear memory cost", 2016); as an
 * optimisation over graphs with a cost for each step it is Checkmate's (Jain et al., 2019) and, under
 * a budget of a device, POET's (Patil et al., 2022), who solve it by integer programming.
 *
 * Here (recompute_plan.c) it is iterated local search (Lourenco, Martin and Stuetzle, 2003) with one
 * neighbourhood: another mode for one image. A choice that takes too much is brought within the
 * budget by the changes that lessen the excess of bytes over time the most for each unit of extra
 * time, then improved by any change that saves time. So begin all that keep or drop everything, with
 * what can be fused stored or not, and the one that takes the least. Where the best of these costs
 * more than a little time, a few modes at random are changed and the search begins again from there,
 * a number of times; always the same for the same model.
 *
 * Where a batch runs in parts, segments of the graph are run by all parts before the next begins
 * (record.c). What is dropped is made in each segment that reads it, so that only what is kept
 * must be there for the whole batch at once. */
#ifndef GLCNN_RECOMPUTE_H
#define GLCNN_RECOMPUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum recompute_mode {
    RECOMPUTE_KEPT, /* lives from when it is made to its last reader */
    RECOMPUTE_ONCE, /* dropped after the forward pass, then made once for the backward pass */
    RECOMPUTE_NEAR, /* made for each row of steps of the backward pass that all need it */
    RECOMPUTE_EACH, /* made for each step of the backward pass that needs it */
    RECOMPUTE_FUSED /* stored nowhere: its readers make it of what its step reads, which lives as
                         long as they wait */
};

struct recompute_image {
    uint64_t size, part; /* bytes for the whole batch, and for a part of it */
    bool may_drop;       /* its step may be run again, and the backward pass reads it */
    bool may_fuse;       /* its readers can make it */
};

struct recompute_step {
    const size_t *reads; /* images */
    size_t read_count;
    size_t results[2]; /* images; SIZE_MAX: none */
    uint64_t scratch;  /* bytes, of whatever lives as long as the step alone */
    double time;       /* that reads and makes what is stored */
    double fused_time; /* where its result is fused */
    uint32_t segment;
};

struct recompute_model {
    struct recompute_step *steps;
    struct recompute_image *images;
    size_t step_count, image_count;
    size_t forward_count; /* steps before the backward pass */
    uint64_t held;        /* bytes of whatever lives all the time */
    bool parts;           /* the batch runs in parts */
    size_t *reads;        /* that the steps' lists lie in */
};

/* Step `step`, run for the sake of step `at`: another one than that is run again. */
struct recompute_item {
    size_t step, at;
};

struct recompute_schedule {
    struct recompute_item *items;
    size_t count;
    uint64_t peak; /* bytes */
    double excess; /* bytes above the budget, summed over the items */
    double time;   /* of all items */
    double extra;  /* time, besides that of each step once with all fused that can be fused */
};

/* What choices store, of that which readers can make. */
enum recompute_stored {
    RECOMPUTE_STORED_ALL,
    RECOMPUTE_STORED_GRADIENTS,
    RECOMPUTE_STORED_NOTHING,
    RECOMPUTE_STORED_ANY /* whatever is the best, image by image: takes longer */
};

/* A search over those choices for a model; NULL: out of memory. The model must outlive it. */
struct recompute_search *recompute_search_create(const struct recompute_model *model,
                                                 enum recompute_stored stored);
void recompute_search_destroy(struct recompute_search *search);
/* The schedule of a choice, [images] modes; it is the search's, until the next. NULL: out of
 * memory. */
const struct recompute_schedule *recompute_evaluate(struct recompute_search *search,
                                                    const unsigned char *modes, uint64_t budget);
/* The best choice within the budget into `modes`. False: none was found. */
bool recompute_plan(struct recompute_search *search, uint64_t budget, unsigned char *modes);
/* The choice that takes the least memory, as far as is known: whatever the budget, the same. */
void recompute_least(struct recompute_search *search, unsigned char *modes);
/* Was memory wanting in any of these? Then what they found need not be the best. */
bool recompute_has_failed(const struct recompute_search *search);

/* ---- For the search (recompute_schedule.c) ---- */

struct recompute_evaluation;
struct recompute_evaluation *recompute_evaluation_create(const struct recompute_model *model);
void recompute_evaluation_destroy(struct recompute_evaluation *evaluation);
const struct recompute_schedule *recompute_evaluation_run(struct recompute_evaluation *evaluation,
                                                          const unsigned char *modes,
                                                          uint64_t budget);

#endif
