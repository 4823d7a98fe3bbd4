/* How a batch runs: what budget.c chooses and what a recording follows. */
#ifndef GLCNN_MEMORY_CHOICE_H
#define GLCNN_MEMORY_CHOICE_H

#include "graph/recompute.h"

/* How passes are merged and run beside each other, each of which takes more memory: as recorded;
 * merged where they can be (command_merge.c); in dependency levels, too (command_order.c), and
 * without a limit merged where that needs more memory (command_merge_sums.c). */
enum arrangement { ARRANGE_AS_RECORDED, ARRANGE_MERGED, ARRANGE_IN_LEVELS };

/* In how many parts the batch runs, what is stored for it, and what is recomputed. */
struct memory_choice {
    uint32_t sub_batches;
    bool *stored; /* [images of the network]: is not fused into its readers; NULL: what can be fused
                     is. Where there are several parts, all is stored whatever it says */
    enum arrangement arrangement;
    double live;     /* ARRANGE_IN_LEVELS: the limit of what lives (command_order.c), a part of what
                        the budget leaves for it; 0: none */
    uint64_t stores; /* most bytes of the buffer that passes store by (record/stores.h) */
    size_t workspace; /* most bytes of a vector of part sums; 0: as many as are fastest */
    struct recompute_schedule schedule; /* no items: each step once */
};
void memory_choice_free(struct memory_choice *choice);

#endif
