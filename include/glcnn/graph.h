/* Graphs: networks of nodes compiled into recorded passes with planned memory, and executed.
 * MPSNNGraph; spec 10.4.
 *
 * A graph is compiled at its first execution for images of given sizes and formats: every filter is
 * encoded once, textures of intermediate images are planned, programs are made. Executions of the
 * same sizes replay it: nothing is allocated, compiled or encoded. A second batch size is compiled
 * beside the first.
 *
 * Images carry a whole batch: number_of_images is the batch size, the same for all sources. Behind
 * crops (glcnn/kernels/crop_and_resize.h) it is the batch size times the regions of an image: labels
 * have as many there.
 *
 * Thread-safety: as its device (glcnn/device.h).
 */
#ifndef GLCNN_GRAPH_H
#define GLCNN_GRAPH_H

#include <glcnn/node.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glcnn_graph glcnn_graph;

/* Loss scaling, for gradients that float16 stores: they are multiplied by `scale` where losses make
 * them, so that small ones do not become 0, and those for weights are divided by it before anything
 * else is done with them. After Micikevicius et al. 2018, Mixed Precision Training. */
struct glcnn_dynamic_loss_scale {
    float scale;            /* a power of two in 1 .. 2^24; 65536 to begin with serves most. 0, the
                               default: none, and the other fields are 0 */
    uint32_t good_steps;    /* made since it changed or a step was skipped, 0 .. 1999: at 2000 it
                               doubles, up to `largest` */
    uint64_t skipped_steps; /* so far */
    float largest; /* a power of two from `scale` to 2^24; 0: 2^24. A scale of 1 that is the
                               largest too changes no bit of a step, and skips those that are not
                               finite */
};

struct glcnn_graph_descriptor {
    glcnn_image_node *const *results; /* result images; what nothing of them needs is dropped */
    const bool *result_is_needed; /* NULL: all. A result that is not needed is computed as far as an
                                     update of weights or an exported image needs it */
    size_t result_count;
    glcnn_channel_format format; /* of intermediate images; none: float32. (MPS: float16, with which
                                    training without loss scaling need not converge; images of
                                    losses stay float32) */
    uint64_t memory_budget;   /* bytes of all that the graph makes on the GPU for executions at one
                               batch size (glcnn_memory_plan tells what that is); 0: as many as
                               needed. A batch that needs more drops images of the forward pass
                               and computes them again for the backward pass, which gives the same
                               bits and takes time; or stores what its readers would make, and
                               would round to float16 as it is stored; or runs
                               in sub-batches, whose results are the same up to the order of sums,
                               statistics of batch normalisation too; or, where nothing but those
                               keeps within the budget, adds up sums in fewer parts, the same up to
                               rounding. Of all plans within the budget the one of the least
                               expected time is taken; sub-batches must save 5 % of a step. Large
                               GPUs make some sums in the pass that stores what is added up, or in
                               one of their own, as the plan is: in another order, then */
    float gradient_clip_norm; /* largest norm of the gradients for weights that an execution's
                                 updates see, all vectors of all kernels taken as one; 0 or more,
                                 0: any. Where the norm is more, each gradient is multiplied by
                                 gradient_clip_norm / norm, in the states too. A norm that is NaN,
                                 or beyond float32 squared, makes all gradients NaN, so that nobody
                                 takes it for a small step. Optimizers' own clipping, by value,
                                 comes after it. Not in MPS; PyTorch's clip_grad_norm_ */
    uint32_t accumulate;      /* executions to an update of weights: it follows the last of each so
                                 many, by the mean of their gradients; 0, the default, and 1: each
                                 updates. See glcnn_graph_create. Not in MPS */
    struct glcnn_dynamic_loss_scale loss_scale; /* to begin with, or where a run that goes on had it
                                           (glcnn_graph_get_loss_scale). Not in MPS */
};

/* Compiles nothing yet. The caller owns the graph; the network must outlive it.
 * Which weights are updated is settled here: set data sources and training styles before. Their
 * `update` callbacks are called whenever the graph is recorded: once for each encode, and while
 * compiling once for each way to split the batch that is tried.
 * A filter that several losses reach has a gradient node for each. Their gradients for its weights
 * are added up in the order of the nodes, and one update follows in each execution, after the last
 * filter has run; an exported state has the sum. So are the gradients of several nodes of one
 * kernel (glcnn_filter_node_create_with_kernel): the state of the node that was made first has
 * their sum, those of the others their own.
 *
 * A graph that accumulates, over groups of N executions, keeps the sums of their gradients for weights, as
 * many bytes as these, and makes of the last execution's gradients the mean before anything else is
 * done with them: loss scale, clipping, exchange and updates see the mean, and states have it; those of
 * other executions have their own. For losses that are means over a batch that is the step on a batch
 * N times as large, up to rounding; but statistics of batch normalisation are those of each batch, and
 * running averages move with each. Sources of a group are of the same sizes, optimizers are set and
 * glcnn_graph_set_exchange called between groups, else GLCNN_INVALID_STATE. A group that is not
 * complete when the graph is destroyed updates nothing.
 *
 * With a loss scale, an execution whose gradients for weights are not all finite, after sums and
 * before clipping, is a step that is skipped: weights that glcnn_kernel_set_training trains, what
 * their optimizers keep and the time step of those stay as they are, CPU training style is not
 * called, and the scale is halved. Running averages of statistics move, but where the step would make
 * them NaN or infinite, and gradients in states are NaN: a data source's own `update` steps with these, unless by glcnn_optimizer_encode or
 * glcnn_optimizer_encode_states. Where it cannot be halved any more, at 1, the cause is another than
 * the scale, and the execution fails when it is complete, with GLCNN_INVALID_STATE. Executions wait
 * for the one before, which may have changed the scale. Gradients that begin at a source of the
 * graph, and no loss, are to be multiplied by the scale by whoever writes them.
 *
 * Errors: GLCNN_INVALID_ARGUMENT (a node of another network, a result without a filter, a norm below
 * 0, a loss scale out of its range), GLCNN_OUT_OF_MEMORY, or the failure that the network keeps. */
GLCNN_API glcnn_status glcnn_graph_create(glcnn_network *network,
                                          const struct glcnn_graph_descriptor *descriptor,
                                          glcnn_graph **graph);
/* Waits for executions, then destroys; *graph becomes NULL. */
GLCNN_API void glcnn_graph_destroy(glcnn_graph **graph);

/* The inputs that an execution takes, in its order: depth first from the first result, sources in
 * argument order (sourceImageHandles). NULL beyond the last. */
GLCNN_API size_t glcnn_graph_source_count(const glcnn_graph *graph);
GLCNN_API glcnn_image_node *glcnn_graph_source(const glcnn_graph *graph, size_t index);
/* The filters that the graph runs, in order; fewer than the network has. NULL beyond the last. */
GLCNN_API glcnn_filter_node *glcnn_graph_filter(const glcnn_graph *graph, size_t index);

/* Memory that the graph makes on the GPU for executions at one batch size, in bytes: textures of
 * intermediate images and of results, and buffers of sums and packings on their way, of uniforms, and
 * of what states keep, gradients for weights among them; and the buffer that passes store by on some
 * devices, which a device has once for all graphs (at most a 96th of a budget). Not those of sources,
 * of kernels (weights, running statistics, what optimizers keep), and of transfers to the processor.
 * What the plan takes, what it would take without sharing, and the most that lives at one time, in
 * textures and in buffers, below which no plan of the same passes can be. Few can be as low: what a
 * pass writes lies in another texture than what it reads, and an image in a larger texture takes whole
 * layers of it, or a power of two of places in them. Where images are few the plan may be a fifth
 * above. */
struct glcnn_memory_plan {
    uint64_t planned, without_sharing, lower_bound;
    uint32_t sub_batches; /* 1: the batch runs at once */
    uint32_t recomputed;  /* encodes of filters that make once more what was dropped */
    double extra_time;    /* expected, of a step without a budget: 0.25 takes a quarter longer. By
                             the passes, their bytes and operations, and how many wait for others,
                             not measured; it may be below 0 */
};

/* Plans for sources of these descriptors, in the order of glcnn_graph_source, before any texture is
 * allocated. Errors: those of an execution; GLCNN_LIMIT_EXCEEDED when no plan keeps within the
 * budget, with a message that tells how much is needed. */
GLCNN_API glcnn_status glcnn_graph_memory(glcnn_graph *graph,
                                          const struct glcnn_image_descriptor *sources,
                                          struct glcnn_memory_plan *memory);

/* The least memory_budget that a graph of this network and these results can have, for sources as
 * for glcnn_graph_memory: with it an execution is not refused for its memory, and with a byte less
 * it is, with GLCNN_LIMIT_EXCEEDED and a message that has this number. The graph's own budget does
 * not matter. It takes a search, some seconds for a network of hundreds of filters. Errors: those of
 * glcnn_graph_memory but GLCNN_LIMIT_EXCEEDED. */
GLCNN_API glcnn_status glcnn_graph_least_memory(glcnn_graph *graph,
                                                const struct glcnn_image_descriptor *sources,
                                                uint64_t *bytes);

/* Records one run of the graph into a command buffer of the user's, with temporary images in it,
 * and returns the result images, ordinary ones that the caller owns: results[i] is NULL for a
 * result that is not needed. Sub-batches and CPU training style are for executions, and so are
 * passes that serve several layers and, on large GPUs, sums in the pass that stores what is added
 * up: results are those of an execution up to the order of such sums. A temporary source loses one
 * read. On failure nothing is recorded and nothing returned. GLCNN_INVALID_STATE for a graph with a
 * loss scale, or one that accumulates: only executions can move these. */
GLCNN_API glcnn_status glcnn_graph_encode(glcnn_command_buffer *command_buffer, glcnn_graph *graph,
                                          glcnn_image *const *sources, glcnn_image **results);

/* Called once an execution is complete, by the call that finds it so: glcnn_graph_wait,
 * glcnn_graph_poll or the next execution, on their thread. It may execute the graph again,
 * but not where an execution calls it. */
typedef void (*glcnn_graph_handler)(void *user, glcnn_graph *graph, glcnn_status status);

/* Runs the graph on the sources and returns without waiting. Sources are ordinary images, not
 * views, each another one, and no results of this graph's own executions of these sizes. Results,
 * exported images and states are the graph's own, to be had by glcnn_graph_image and
 * glcnn_graph_state, and hold until the next execution of these sizes. `handler` may be NULL.
 * executeAsyncWithSourceImages:completionHandler:.
 *
 * The first execution of a graph reads the weights (gamma) of the layers that
 * glcnn_kernel_set_training lets it train, and is refused, in a message that names the layer,
 * where all of them are zero and would stay so: other layers of zeros, stuck in the same way, make
 * what the layer reads or the gradient that reaches it. One layer of zeros learns, and so do
 * several where a sum, a bias or a neuron with f(0) other than 0 leads around them. Nothing is
 * checked once a graph has executed, nor by glcnn_graph_encode.
 *
 * Errors: those of encoding, GLCNN_INVALID_STATE for such a layer, or from a handler that an
 * execution calls; GLCNN_DEVICE_LOST, GLCNN_CHECK_FAILED. */
GLCNN_API glcnn_status glcnn_graph_execute(glcnn_graph *graph, glcnn_image *const *sources,
                                           glcnn_graph_handler handler, void *user);
/* Waits for the last execution, lets CPU training callbacks update, and calls the handler. */
GLCNN_API glcnn_status glcnn_graph_wait(glcnn_graph *graph);
/* The same if it has finished; returns whether it has. Never waits. */
GLCNN_API bool glcnn_graph_poll(glcnn_graph *graph);
/* The loss scale after the last execution, for which it waits as glcnn_graph_wait does; `scale` 0:
 * the graph has none. Kept, and given to the graph of a run that goes on, it makes that go on bit for
 * bit. */
GLCNN_API glcnn_status glcnn_graph_get_loss_scale(glcnn_graph *graph,
                                                  struct glcnn_dynamic_loss_scale *loss_scale);
/* A file descriptor that becomes readable when the last execution has finished, to be closed by the
 * caller; -1 where the driver has no EGL_ANDROID_native_fence_sync. */
GLCNN_API int glcnn_graph_fence_descriptor(glcnn_graph *graph);

/* A result or exported image of the last execution; NULL if there is none. The graph owns it. */
GLCNN_API glcnn_image *glcnn_graph_image(const glcnn_graph *graph, const glcnn_image_node *node);
GLCNN_API glcnn_state *glcnn_graph_state(const glcnn_graph *graph, const glcnn_state_node *node);

/* ---- Several devices: between gradients and updates ----
 *
 * Executions of graphs of one network in several processes, each on its part of a batch, are a step
 * on all of it once their gradients for weights are added up between the backward pass and the
 * updates. Whoever can add up numbers of several processes can do that: libglcnn_mpi (glcnn/mpi.h),
 * or an engine of the user's.
 *
 * The gradients that updates of an execution see are cut into buckets, in the order of the graph's
 * filters, which is that of the backward pass. The same network, losses and bucket_bytes make the
 * same buckets, whatever the device, the batch and the memory budget. An execution, on the thread
 * that calls glcnn_graph_execute and within that call,
 *
 *   gives the backward pass to the GPU, and a fence behind the last pass of each bucket;
 *   calls `begin` for each bucket, in order, once its fence has passed: later buckets are still being
 *   computed, or have not even been given to the GPU;
 *   calls `progress` while it waits for a fence, and after each bucket that it gives to the GPU;
 *   calls `finish` for each bucket, in order, once all have begun;
 *   gives the GPU what the buckets hold now, and then the updates, clipping by norm before them.
 *
 * Callbacks must not call the library. One that fails ends the execution with its status: its
 * message becomes that of the device, no update is made, results and states of this execution are
 * undefined, and other buckets that have begun are not finished. Optimizers that count their steps
 * have counted it. */
struct glcnn_gradient_bucket {
    uint32_t index, buckets; /* which of how many */
    float *values;           /* the graph's, until the execution ends: to be replaced by `finish` */
    size_t count;
};

struct glcnn_exchange {
    /* A bucket is closed once it has so many bytes; a vector is not cut. 0: an eighth of all, but
     * 64 KiB at least and 4 MiB at most. */
    size_t bucket_bytes;
    /* Begins to add the bucket's values to those of the others; may leave at once. Until `finish`
     * returns they are the engine's. */
    glcnn_status (*begin)(void *user, const struct glcnn_gradient_bucket *bucket,
                          char error[GLCNN_ERROR_LENGTH]);
    /* Leaves in the bucket what updates are to see. */
    glcnn_status (*finish)(void *user, const struct glcnn_gradient_bucket *bucket,
                           char error[GLCNN_ERROR_LENGTH]);
    /* Goes on with what has begun, and never waits. NULL: there is nothing to do. */
    void (*progress)(void *user);
    /* Replaces each value by the sum over all processes, at once. With it batch normalisations take
     * their statistics, and the sums of their gradients, over the batches of all, as one process
     * would; calls come in the order of the filters, and the GPU waits for each. NULL: each process
     * has its own statistics. */
    glcnn_status (*sum)(void *user, double *values, size_t count, char error[GLCNN_ERROR_LENGTH]);
    uint64_t images; /* with `sum`: of the batches of all processes, this one's included */
    void *user;
};

/* Lets the executions to come exchange their gradients; copied. NULL ends that. Waits for the last
 * execution; the next one compiles the graph again. glcnn_graph_encode exchanges nothing. A graph
 * that updates no weights calls `sum` alone.
 * Errors: GLCNN_INVALID_ARGUMENT without begin and finish, or with `sum` and no images; those of
 * glcnn_graph_wait. */
GLCNN_API glcnn_status glcnn_graph_set_exchange(glcnn_graph *graph,
                                                const struct glcnn_exchange *exchange);

/* Reads all data sources again, immediately; the graph must not be executing. */
GLCNN_API glcnn_status glcnn_graph_reload_from_data_sources(glcnn_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
