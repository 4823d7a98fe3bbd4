/* Graphs as their own code sees them: which filters run and how (graph.c), one recording of them
 * (record.c), compiled recordings and their execution (execute.c).
 *
 * Room: Networks: nodes, their gradients, training graphs, the plan of their memory and their
 * execution. Includes encode/ and the rooms below it; knows kernels by what their descriptors
 * say. */
#ifndef GLCNN_GRAPH_INTERNAL_H
#define GLCNN_GRAPH_INTERNAL_H

#include "record/command_buffer.h"
#include "glcnn/graph.h"
#include "image/image.h"
#include "graph/node.h"
#include "graph/recompute.h"
#include "encode/encode.h"
#include "encode/state.h"

/* A filter as this graph runs it. */
struct graph_filter {
    struct glcnn_filter_node *node;
    bool makes_result; /* its image is read or wanted; otherwise it serves an update alone */
    bool makes_loss;
    bool makes_state;  /* a gradient, another filter or the user wants its state */
    bool collects;     /* the whole batch goes through its collector first */
    bool updates;      /* a gradient node after which weights are updated */
    bool has_gradient; /* a gradient node of it runs */
    bool repeats;      /* a gradient node whose forward filter an earlier one is of too: one update
                          follows both, with the sum of their gradients */
    size_t user;       /* the first filter of the graph that has the same kernel: its index */
    bool shares;       /* there are others that have it */
    struct glcnn_filter_node *fused; /* a neuron that this filter computes too */
    bool skipped;                    /* a neuron that another filter computes */
};

/* How passes are joined and run beside each other, each of which takes more memory: as recorded;
 * joined where they can be (command_merge.c); in waves, too (command_order.c). */
enum arrangement { ARRANGE_AS_RECORDED, ARRANGE_JOINED, ARRANGE_IN_WAVES };

/* How a batch runs: in so many parts, for which all is stored, and with what is made again. */
struct memory_choice {
    uint32_t sub_batches;
    bool *stored; /* [images of the network]: no reader makes it; NULL: what can be is made by its
                     readers. Whatever it says, all is stored where there are several parts */
    enum arrangement arrangement;
    double live;     /* ARRANGE_IN_WAVES: the limit of what lives (command_order.c), a part of what
                        the budget leaves for it; 0: none */
    uint64_t stores; /* most bytes of the buffer that passes store by (record/stores.h) */
    size_t lent;     /* most bytes of a vector of part sums; 0: as many as are fastest */
    struct recompute_schedule schedule; /* no items: each step once */
};
void memory_choice_free(struct memory_choice *choice);

struct glcnn_graph {
    struct glcnn_network *network;
    struct glcnn_device *device;
    struct graph_filter *filters; /* sources before readers */
    size_t filter_count;
    struct glcnn_image_node **sources, **results;
    size_t source_count, result_count;
    struct glcnn_image_descriptor *source_descriptors; /* room for those of an execution's */
    bool *result_is_needed;
    bool *wanted; /* [images of the network]: a needed result or exported */
    size_t image_count;
    glcnn_channel_format format;
    uint64_t memory_budget;
    float gradient_clip_norm; /* 0: none */
    struct glcnn_dynamic_loss_scale loss_scale;
    float loss_unscale;         /* 1 / loss_scale.scale */
    struct compiled *compiled;  /* most recent first */
    struct compiled *executing; /* the last execution's; NULL: none */
    bool pending;               /* its completion was not seen yet */
    glcnn_graph_handler handler;
    void *user;
    bool learns;                    /* graph_check_learning has said so */
    bool waiting;                   /* an execution lets the one before it complete */
    bool steps_apart;               /* optimizers that once stepped together were set apart */
    struct glcnn_exchange exchange; /* `begin` NULL: none */
};

/* Kernels that one pass steps: their optimizers, set alike, and their vectors. */
enum step_role { STEP_VALUES, STEP_GRADIENTS, STEP_FIRST, STEP_SECOND, STEP_ROLES };
struct joint_step {
    struct glcnn_kernel **optimizers;
    size_t count;
    struct glcnn_buffer *vectors[STEP_ROLES]; /* of all kernels; NULL: the optimizers keep none */
};

/* A filter's encode or its collector's. */
struct record_step {
    size_t filter;
    bool collector;
    bool again; /* the filter's image was made before and is made once more (recompute.h) */
    uint32_t segment;
    size_t last_reader, last_loss_reader; /* steps that read last what this one makes, before it is
                                             made again; SIZE_MAX: none */
    size_t first_pass;                    /* in the command buffer; of the last sub-batch */
};

/* How an image was made when it was made first, or by the last encode so far. */
struct made_image {
    bool made, derived; /* derived: its readers make it, with so many textures and buffers each */
    uint32_t textures, buffers;
    enum derivative may_derive;
    uint32_t most_textures, most_buffers; /* for `may_derive` */
    uint32_t segment;
    size_t first_pass;             /* in the command buffer, of the first encode */
    uint64_t size;                 /* bytes */
    const struct storage *storage; /* held by the command buffer; to be compared alone */
};

/* A run of the graph on its way into a command buffer. Images and states stay until it is freed. */
struct recording {
    const struct glcnn_graph *graph;
    struct glcnn_command_buffer *command_buffer;
    uint32_t batch, sub_batches;
    const bool *stored;          /* the choice's */
    bool ordinary_results;       /* wanted images are kept: ordinary ones */
    struct glcnn_image **images; /* by image node; of the sub-batch under way where they are not
                                    kept whole */
    bool *whole;                 /* by image node: holds all images of the batch */
    struct glcnn_state **states; /* by filter, sub-batch, source */
    size_t most_sources;
    struct record_step *steps;
    size_t step_count;
    size_t step_passes;      /* passes of all steps; updates follow */
    size_t *last_reader;     /* by image node: step; SIZE_MAX: none */
    struct made_image *made; /* by image node */
    bool *stepped;           /* by filter: a gradient node whose update a joint step makes */
    bool *averaged;          /* by filter: a joint pass averages its statistics */
    struct joint_step *joint_steps;
    size_t joint_step_count;
    struct glcnn_buffer *gradient_sum; /* with a loss scale: of the squares of all gradients */
    bool skipped;                      /* the last step: its gradients are NaN */
    struct exchange *exchange;         /* NULL: nothing is exchanged */
};

/* Records everything; `sources` are in the graph's order. Free the recording in any case. */
glcnn_status recording_make(struct recording *recording, const struct glcnn_graph *graph,
                            struct glcnn_command_buffer *command_buffer,
                            struct glcnn_image *const *sources, const struct memory_choice *choice);
void recording_free(struct recording *recording);
/* Bytes of what it holds beside what its command buffer places: results, and vectors of states. */
uint64_t recording_held(const struct recording *recording);
/* The image that a filter's encode makes. */
const struct glcnn_image_node *recording_result(const struct graph_filter *filter);
struct glcnn_state *recording_state(const struct recording *recording, size_t filter,
                                    uint32_t sub_batch, size_t source);
/* Position of a node in the graph; SIZE_MAX: it is not in it. */
size_t graph_find_filter(const struct glcnn_graph *graph, const struct glcnn_filter_node *node);
/* May the batch be run in parts with the same results? */
bool graph_can_be_split(const struct glcnn_graph *graph);

/* ---- Memory budgets (budget.c) ---- */

/* The model of a whole batch's recording, no step of which is run again and which stores all, for a
 * batch in so many parts; `derived` is the recording of a whole batch that stores the least, NULL:
 * all is stored (recompute_model.c). False: out of memory. To be freed in any case. */
bool recompute_model_make(struct recompute_model *model, const struct recording *recording,
                          const struct recording *derived, uint32_t parts);
void recompute_model_free(struct recompute_model *model);

/* That the device may take for all that is recorded, in bytes that memory moves meanwhile. */
double recording_time(const struct recording *recording);

/* Most bytes of the buffer of stores within the graph's budget. */
uint64_t budget_stores(const struct glcnn_graph *graph);

/* Most bytes of a vector of part sums that still is much less than the budget, and those that are no
 * matter. */
#define LEAST_LENT ((size_t)1 << 20)
size_t budget_lent(const struct glcnn_graph *graph);

struct budget;
/* `lent`: as in the choices that it makes. */
glcnn_status budget_create(const struct glcnn_graph *graph, struct glcnn_image *const *sources,
                           size_t lent, struct budget **budget);
void budget_destroy(struct budget **budget);
/* The choice that takes the least by the models' count. */
glcnn_status budget_least(struct budget *budget, struct memory_choice *choice);
/* Choices take so many bytes by the models' count; and those in as many parts as the last `over`
 * less from now on. */
void budget_set(struct budget *budget, uint64_t bytes);
void budget_lessen(struct budget *budget, uint64_t over);
/* The choice of the least time among those; of 0 sub-batches: there is none. */
glcnn_status budget_choose(struct budget *budget, struct memory_choice *choice);

/* ---- Compiled graphs (compile.c) ---- */

/* A graph compiled for sources of these descriptors. */
struct compiled {
    struct compiled *next;
    struct glcnn_image *
        *sources; /* whose storage the passes use now: placeholders until executed */
    struct glcnn_command_buffer *command_buffer;
    struct memory_choice choice;
    struct recording recording;
    struct command_memory memory;
    double whole_time; /* recording_time without a budget */
    size_t lent; /* most bytes of a vector of part sums, unless a budget needs fewer; 0: any */
    uint64_t workspace_size; /* of all that are lent to one plan, where they may take any */
    bool has_programs;
};
/* What the graph has compiled for these, or compiles now. */
glcnn_status compiled_find(struct glcnn_graph *graph, const struct glcnn_image_descriptor *sources,
                           struct compiled **compiled);
/* Records it once more by the same choice, with placeholders for sources. */
glcnn_status compiled_renew(struct glcnn_graph *graph, struct compiled *compiled);
void compiled_free(struct compiled *compiled, size_t source_count);
void compiled_free_all(struct glcnn_graph *graph);

/* Refuses, naming it, a layer that trains and whose weights would be zero for ever (learning.c). */
glcnn_status graph_check_learning(const struct glcnn_graph *graph);

/* ---- Updates (update.c) ---- */

/* Must the gradients for weights of a gradient node that repeats another go to a state of its own?
 */
bool update_sums_apart(const struct graph_filter *filter);
/* Is this the gradient node that a kernel's update in that style follows? */
bool update_leads(const struct glcnn_graph *graph, const struct graph_filter *filter,
                  glcnn_training_style style);
/* Do the batch statistics of filter `i` go into the running ones of the kernel that the update of
 * gradient node `leader` is of? */
bool update_gives_statistics(const struct glcnn_graph *graph, const struct graph_filter *leader,
                             size_t i);
/* The state that has the sums of the update that follows the gradient node. */
struct glcnn_state *update_state(const struct recording *recording,
                                 const struct graph_filter *filter);
/* Records the sums over gradient nodes that repeat others, then the GPU style's updates of weights
 * and statistics. */
glcnn_status update_record(struct recording *recording);
/* Is it a vector of gradients that a state has of its own? */
bool update_is_gradient(const struct state_vector *vector);
/* Records the end of loss scaling, and the clipping by their norm, of all gradients that updates
 * follow (gradient_norm.c). */
glcnn_status gradient_norm_record(struct recording *recording);
/* Calls the CPU style's callbacks and reloads. */
glcnn_status update_on_cpu(const struct recording *recording);

/* ---- Exchanges with other processes (exchange.c) ---- */

/* Before anything is recorded. Nothing where the graph exchanges nothing, or the command buffer is
 * the user's. */
glcnn_status exchange_create(struct recording *recording);
/* Behind a collector, all of whose passes are recorded: sums up what it found of the batch. */
glcnn_status exchange_record_statistics(struct recording *recording, size_t filter);
/* Behind all gradients, where they lie as they will be updated from: the buckets. */
glcnn_status exchange_record_gradients(struct recording *recording);
void exchange_destroy(struct exchange **exchange);

/* ---- Joint steps (joint_steps.c) ---- */

/* Finds the kernels that glcnn_kernel_set_training lets train, whose optimizers are set alike, and
 * whose vectors lie together or can be laid so; marks them in `stepped`. */
glcnn_status joint_steps_lay(struct recording *recording);
/* Records a pass for each joint step. */
glcnn_status joint_steps_record(const struct recording *recording);
/* Before a commit: are the optimizers of each joint step still set alike? */
bool joint_steps_are_alike(const struct recording *recording);
/* After a commit, whatever became of it: what has moved the first has moved all. */
void joint_steps_follow(const struct recording *recording);
/* Before a commit behind a step that was skipped: what lies between the vectors of gradients, which
 * no pass writes but for all of them, is 0 again. */
glcnn_status joint_steps_clear(const struct recording *recording);
void joint_steps_free(struct recording *recording);

/* ---- Loss scaling (loss_scale.c) ---- */

bool loss_scale_is_used(const struct glcnn_graph *graph);
/* Is it in its range? A sentence if not. */
glcnn_status loss_scale_check(struct glcnn_device *device,
                              const struct glcnn_dynamic_loss_scale *scale);
void loss_scale_set(struct glcnn_graph *graph, const struct glcnn_dynamic_loss_scale *scale);
/* After an execution: moves the scale, marks a step that was skipped and takes back what was
 * counted of it. */
glcnn_status loss_scale_follow(struct glcnn_graph *graph, struct recording *recording);
/* Before a commit, after whatever step. */
glcnn_status loss_scale_prepare(struct recording *recording);

/* ---- Averages of batch statistics ---- */

/* What is averaged of one layer; the kernel is a reference to be destroyed. */
struct average {
    struct glcnn_kernel *kernel; /* NULL: there is none */
    struct glcnn_buffer *mean, *variance, *running_mean, *running_variance;
};
/* Does glcnn_kernel_set_training average what the kernel's state has of batches? If so, how
 * (training.c). */
bool training_averages(const struct glcnn_kernel *kernel);
glcnn_status training_average(const struct glcnn_kernel *kernel, struct glcnn_state *state,
                              struct average *average);
/* Records one pass for the averages of all kernels of which that is so and that the graph has once,
 * if their vectors can be laid together; marks their filters in `averaged` (joint_averages.c). */
glcnn_status joint_averages_record(struct recording *recording);

#endif
