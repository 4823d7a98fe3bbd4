/* Memory budgets: in how many parts the batch runs, and what is recomputed. */
#ifndef GLCNN_BUDGET_H
#define GLCNN_BUDGET_H

#include "graph/recording.h"

/* The model of a whole batch's recording, no step of which is recomputed and which stores all, for a
 * batch in so many parts; `fused` is the recording of a whole batch that stores the least, NULL:
 * all is stored (recompute_model.c). False: out of memory. To be freed in any case. */
bool recompute_model_make(struct recompute_model *model, const struct recording *recording,
                          const struct recording *fused, uint32_t parts);
void recompute_model_free(struct recompute_model *model);

/* That the device may take for all that is recorded, in bytes that memory moves meanwhile. */
double recording_time(const struct recording *recording);

/* Most bytes of the buffer of stores within the graph's budget. */
uint64_t budget_stores(const struct glcnn_graph *graph);

/* Bytes of a vector of part sums that need no budget, and the most of one that is small beside the
 * graph's budget. */
#define LEAST_WORKSPACE ((size_t)1 << 20)
size_t budget_workspace(const struct glcnn_graph *graph);

struct budget;
/* `workspace`: as in the choices that it makes. */
glcnn_status budget_create(const struct glcnn_graph *graph, struct glcnn_image *const *sources,
                           size_t workspace, struct budget **budget);
void budget_destroy(struct budget **budget);
/* The choice that takes the least by the models' count. */
glcnn_status budget_least(struct budget *budget, struct memory_choice *choice);
/* Choices take so many bytes by the models' count; and those in as many parts as the last `over`
 * less from now on. */
void budget_set(struct budget *budget, uint64_t bytes);
void budget_lessen(struct budget *budget, uint64_t over);
/* The choice of the least time among those; of 0 sub-batches: there is none. */
glcnn_status budget_choose(struct budget *budget, struct memory_choice *choice);

#endif
