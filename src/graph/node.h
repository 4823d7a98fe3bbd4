/* Nodes as the graph code sees them. */
#ifndef GLCNN_NODE_INTERNAL_H
#define GLCNN_NODE_INTERNAL_H

#include "glcnn/node.h"
#include "encode/kernel.h"

struct glcnn_image_node {
    struct glcnn_network *network;
    struct glcnn_image_node *next; /* of the network's, in the order of making */
    size_t index;
    char *handle;
    glcnn_channel_format format;
    bool export_from_graph, stop_gradient;
    bool is_marked;                   /* for one walk through the network */
    struct glcnn_filter_node *filter; /* NULL: an input */
};

struct glcnn_state_node {
    struct glcnn_filter_node *filter;
    bool export_from_graph;
};

struct glcnn_filter_node {
    struct glcnn_network *network;
    struct glcnn_filter_node *next;
    size_t index;
    char *label;
    struct glcnn_kernel *kernel;
    struct glcnn_filter_node *shared_with; /* the first node of this kernel; NULL: this one is */
    struct glcnn_kernel *collector; /* what the whole batch must go through first; NULL: nothing */
    struct glcnn_image_node **sources;
    size_t source_count;
    struct glcnn_image_node *result, *loss;
    struct glcnn_state_node state;
    struct glcnn_state_node *source_state; /* NULL, or whose sizes this filter follows */
    glcnn_training_style style;
    struct glcnn_filter_node *forward; /* of a gradient node */
    size_t forward_source;             /* whose gradient it makes: index of forward's sources */
};

struct glcnn_network {
    struct glcnn_device *device;
    struct glcnn_image_node *images, **last_image;
    struct glcnn_filter_node *filters, **last_filter;
    size_t image_count, filter_count;
    /* The same by index, so that a walk by index is linear; capacities are the powers of two that the
     * counts are within. */
    struct glcnn_image_node **image_at;
    struct glcnn_filter_node **filter_at;
    size_t *kernel_counts; /* [registry]: filters of each kernel, so that labels cost no search */
    bool has_graph;        /* one was made of it */
    glcnn_status status;   /* the first failure */
    /* Its message; before one, that of the last gradient that was refused. */
    char error[GLCNN_ERROR_LENGTH];
};

/* What a network has at one time. */
struct network_mark {
    size_t image_count, filter_count;
    struct glcnn_image_node **last_image;
    struct glcnn_filter_node **last_filter;
};
struct network_mark network_mark(const struct glcnn_network *network);
/* Takes back the nodes that were made since. */
void network_cut(struct glcnn_network *network, const struct network_mark *mark);

/* Keeps a failure in the network, with the device's last message or a new one. Returns NULL. */
void *network_keep_failure(struct glcnn_network *network, glcnn_status status);
void *network_fail(struct glcnn_network *network, glcnn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Keeps the device's last message alone, unless the network has a failure. */
void network_keep_message(struct glcnn_network *network);

/* A filter node with its result, its sources and a label; `kernel` is taken over, also on failure.
 */
struct glcnn_filter_node *filter_node_make(struct glcnn_network *network,
                                           struct glcnn_kernel *kernel,
                                           struct glcnn_image_node *const *sources,
                                           size_t source_count);

/* What a training graph starts from: losses, or one node and the gradient of its result; at least
 * one, of one network. */
struct training_ends {
    struct glcnn_filter_node *const *lasts;
    size_t count;
    struct glcnn_image_node *gradient; /* NULL: what the last nodes make */
};
/* glcnn_training_graph_with_source_gradient of them all: gradients of what several of them depend
 * on are added before they go on. */
size_t training_graph_make(const struct training_ends *ends, glcnn_node_handler handler, void *user,
                           struct glcnn_filter_node **nodes, size_t capacity);

/* Has the filter weights that a gradient is computed for? */
bool filter_has_weights(const struct glcnn_filter_node *node);
/* What layers train, by name, and its place in a layer: what multiplies, and what is added. */
#define PLACES 2
extern const struct trained_vector {
    const char *name; /* NULL at the end */
    int place;
} trained_vectors[];
/* The argument of a vector of the kernel's own that a gradient is computed for; -1: it has none of
 * that name. */
int trained_argument(const struct glcnn_kernel *kernel, const char *name);
/* Every kernel with a neuron could take slopes, "neuron_data"; few types of neurons have them. */
bool lacks_slopes(const struct glcnn_kernel *kernel, const char *name);
/* Channels of all images of the network, by index, as far as parameters of filters tell; 0: only an
 * encode does. To be freed. */
glcnn_status network_channels(const struct glcnn_network *network, uint32_t **channels);
/* glcnn_kernel_set_training; where the descriptor does not tell the channels, those of the network's
 * images do. */
struct glcnn_training_descriptor;
glcnn_status filter_train(struct glcnn_filter_node *node,
                          const struct glcnn_training_descriptor *descriptor,
                          const uint32_t *channels);

#endif
