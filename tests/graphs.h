/* What the tests of graphs share: small networks, their weights, running a graph, and a count of
 * the GL calls that make something. */
#ifndef GLCNN_TESTS_GRAPHS_H
#define GLCNN_TESTS_GRAPHS_H

#include "tests/fixture.h"

#define MOST_ENDS 16

glcnn_network *make_network(void);
glcnn_image_node *make_input(glcnn_network *net, const char *handle);
/* The filter that makes the image; never NULL. */
glcnn_filter_node *filter_of(glcnn_image_node *image);
glcnn_kernel *kernel_of(glcnn_image_node *image);
glcnn_image_node *export_image(glcnn_image_node *image);

/* Noise up to `scale` for a kernel's vector, where it has one of that name. */
void set_vector_noise(glcnn_kernel *kernel, const char *name, uint32_t *seed, float scale);
/* Gives each convolution and normalisation of the network weights of its own, the same for a seed;
 * a fully connected layer is a convolution too. */
void set_weights(glcnn_network *net, uint32_t seed);
/* The network's optimizer is stochastic gradient descent with momentum, or Adam. */
void train_network(glcnn_network *net, bool adam);

/* ---- Graphs ---- */

/* Of one needed result. */
glcnn_graph *graph_of(glcnn_image_node *result);
/* Of one needed result and further ones that are not needed; float32. */
glcnn_graph *training_graph(glcnn_image_node *needed, glcnn_filter_node *const *ends, size_t count,
                            uint64_t budget);
/* Calls the test on the device as it is, and with the traits of a family that other rows of implementations
 * suit; the device is reopened for each, and behind them. */
void on_families(void (*test)(void));
/* Sums and gradients are made by passes of their own from then on, until the device is reopened.
 * An execution may make sums where their pixels are stored, and gradients where they are read, which
 * glcnn_graph_encode never does: in another order, and so with other last bits. */
void reduce_by_passes(void);
/* Executes and waits; both must succeed. */
void run_graph(glcnn_graph *graph, glcnn_image *const *sources);
/* Values of a result; the caller frees them. */
float *result_values(glcnn_graph *graph, const glcnn_image_node *node);
bool graph_has(const glcnn_graph *graph, const char *kernel);
/* Whether the values of two arrays differ at most by tolerance * max(1, |value|). */
bool arrays_near(const float *found, const float *expected, size_t count, double tolerance);
float *vector_values(const glcnn_buffer *buffer);
size_t vector_count(const glcnn_buffer *buffer);

/* ---- A small network ----
 *
 *   12x12x1  convolution 3x3 to 6, batch normalisation with ReLU, max pooling 2
 *   6x6x6    convolution 3x3 to 8, batch normalisation with ReLU, max pooling 2
 *   3x3x8    fully connected to 5, soft-max cross entropy
 */
#define CNN_SIDE    12
#define CNN_CLASSES 5

struct cnn {
    glcnn_network *net;
    glcnn_image_node *image, *labels, *scores;
    glcnn_image_node *convolved[2], *normalised[2], *pooled[2];
    glcnn_filter_node *loss;
    glcnn_filter_node *ends[MOST_ENDS];
    size_t end_count;
};

struct cnn make_cnn(void);
/* The loss needed, the rest as training wants it. */
glcnn_graph *cnn_training_graph(const struct cnn *cnn, uint64_t budget);
/* Images of noise, and labels 1 at one class each. */
void make_cnn_sources(uint32_t batch, glcnn_image *sources[2]);
void destroy_images(glcnn_image **images, size_t count);
/* Weights, statistics and their names: all that training changes. */
float *cnn_parameters(const struct cnn *cnn, size_t *count);

/* ---- Counting GL calls ---- */

struct gl_count {
    size_t textures, buffers, buffer_data, shaders, programs, dispatches;
    uint64_t texture_bytes;
};
/* From here on calls on the device are counted, until counting stops. Not nested. */
void count_gl(struct gl_count *count);
void stop_counting_gl(void);
/* Drops the buffer that passes store by (record/stores.h), which the device then makes again. Returns
 * the bytes that it had. */
size_t drop_stores(void);
/* Everything but dispatches. */
size_t made_by_gl(const struct gl_count *count);

/* Bytes of all textures and buffers that there are, as the driver tells. */
uint64_t gpu_bytes(void);

#endif
