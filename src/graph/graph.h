/* Graphs as their own code sees them: which filters run and how (filters.c).
 *
 * A graph is followed through these headers, each of which uses those before it: graph.h (filters),
 * recording.h (their passes), loss_scale.h, multi_tensor.h, exchange.h and update.h (what comes
 * behind the gradients), budget.h (memory budgets, by recompute.h) and compile.h (graphs that are
 * executed).
 *
 * Room: Networks: nodes, their gradients, training graphs, the plan of their memory and their
 * execution. Includes encode/ and the rooms below it; knows kernels by what their descriptors
 * say. */
#ifndef GLCNN_GRAPH_INTERNAL_H
#define GLCNN_GRAPH_INTERNAL_H

#include "glcnn/graph.h"
#include "graph/node.h"

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

struct compiled;

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
    struct compiled *compiled;  /* most recent first (compile.h) */
    struct compiled *executing; /* the last execution's; NULL: none */
    bool pending;               /* its completion was not seen yet */
    glcnn_graph_handler handler;
    void *user;
    uint32_t group;    /* executions to an update, 1 or more */
    uint32_t in_group; /* of which so many have been made */
    bool has_updated;  /* the last execution did */
    bool may_train;    /* graph_check_zero_weights has passed */
    bool waiting;      /* an execution waits for the one before it */
    bool steps_differ; /* optimizers of one multi-tensor step were set differently: each
                                       kernel has a step of its own from then on */
    struct glcnn_exchange exchange; /* `begin` NULL: none */
};

/* Lists the filters that the results need, and how they run. False: out of memory. */
bool graph_list_filters(struct glcnn_graph *graph);
/* Position of a node in the graph; SIZE_MAX: it is not in it. */
size_t graph_find_filter(const struct glcnn_graph *graph, const struct glcnn_filter_node *node);
/* The image that a filter's encode makes. */
const struct glcnn_image_node *graph_filter_result(const struct graph_filter *filter);
/* Has each image as many images as the batch? Otherwise filters make several of one, and what is read
 * beside their results has as many. */
bool graph_keeps_images(const struct glcnn_graph *graph);
/* May the batch be run in parts with the same results? */
bool graph_can_be_split(const struct glcnn_graph *graph);

/* GLCNN_INVALID_STATE: what was asked for cannot be while gradients are being accumulated. */
glcnn_status graph_fail_in_group(const struct glcnn_graph *graph, const char *where,
                                 const char *must);

/* Refuses, naming it, a layer that trains and whose weights would stay zero forever
 * (zero_weights.c). */
glcnn_status graph_check_zero_weights(const struct glcnn_graph *graph);

#endif
