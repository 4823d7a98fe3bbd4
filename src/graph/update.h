/* Updates of weights and statistics behind the gradients of a run: spec 10.4. */
#ifndef GLCNN_UPDATE_H
#define GLCNN_UPDATE_H

#include "graph/recording.h"

/* ---- Which gradient node an update follows (update_nodes.c) ---- */

/* Must the gradients for weights of a gradient node that repeats another go to a state of its own? */
bool update_sums_apart(const struct graph_filter *filter);
/* Does the gradient node, the first of its forward filter, lead to an update by a data source? */
bool update_is_by_source(const struct graph_filter *filter);
/* Of the gradient nodes that update one kernel in one style, the one whose forward filter came
 * first: its forward filter's state gets the sum of all, and one update follows. */
const struct graph_filter *update_leader(const struct glcnn_graph *graph,
                                         const struct graph_filter *filter);
/* Is this the gradient node that a kernel's update in that style follows? */
bool update_leads(const struct glcnn_graph *graph, const struct graph_filter *filter,
                  glcnn_training_style style);
/* In either style. */
bool update_leads_any(const struct glcnn_graph *graph, const struct graph_filter *filter);
/* Do the batch statistics of filter `i` go into the running ones of the kernel that the update of
 * gradient node `leader` is of? */
bool update_gives_statistics(const struct glcnn_graph *graph, const struct graph_filter *leader,
                             size_t i);
/* The state that has the sums of the update that follows the gradient node. */
struct glcnn_state *update_state(const struct recording *recording,
                                 const struct graph_filter *filter);
/* Is it a vector of gradients that a state has of its own? */
bool update_is_gradient(const struct state_vector *vector);

/* ---- Updates (update.c) ---- */

/* Records the sums over gradient nodes that repeat others, then the GPU style's updates of weights
 * and statistics. */
glcnn_status update_record(struct recording *recording);
/* Calls the CPU style's callbacks and reloads. */
glcnn_status update_on_cpu(const struct recording *recording);
/* Takes back what the last commit counted in parameters of optimizers, for a step that was skipped. */
void update_step_back(const struct glcnn_graph *graph);

/* The vectors of gradients that updates follow: those of multi-tensor steps as wholes, and in parts those
 * that are longer than a storage block. */
struct gradients {
    struct vector_view *vectors; /* to be released with free, even where planning has failed */
    size_t count;
};
struct gradients gradients_list(struct plan *plan, const struct recording *recording);

/* Records the sums over the executions of a group, where a short commit ends, and the means in the place
 * of the gradients (accumulation.c). Nothing where each execution updates. */
glcnn_status accumulation_record(struct recording *recording);
void accumulation_free(struct recording *recording);

/* Records the end of loss scaling, and the clipping by their norm, of all gradients that updates
 * follow (gradient_norm.c). */
glcnn_status gradient_norm_record(struct recording *recording);

/* ---- Running averages (training.c) ---- */

/* What is averaged of one layer; the kernel is a reference to be destroyed. */
struct average {
    struct glcnn_kernel *kernel; /* NULL: there is none */
    struct glcnn_buffer *mean, *variance, *running_mean, *running_variance;
};
/* Does glcnn_kernel_set_training average what the kernel's state has of batches? If so, how. */
bool training_averages(const struct glcnn_kernel *kernel);
glcnn_status training_average(const struct glcnn_kernel *kernel, struct glcnn_state *state,
                              struct average *average);

#endif
