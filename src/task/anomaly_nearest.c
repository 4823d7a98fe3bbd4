/* Nearest neighbours: a graph of three filters, and what it finds looked at again. */
#include "anomaly_nearest.h"

#include <glcnn/kernels/convolution.h>
#include <glcnn/kernels/neuron.h>
#include <glcnn/kernels/reduce.h>
#include <math.h>
#include <stdlib.h>

static bool good(glcnn_status status)
{
    return status == GLCNN_SUCCESS;
}

uint32_t nearest_count(const struct nearest *n)
{
    return n->grid.width * n->grid.height;
}

/* ---- The graph ---- */

/* Less the mean of the bank, for each channel. */
static void find_shifts(const struct bank *bank, float *shifts)
{
    for (uint32_t c = 0; c < bank->channels; c++) {
        double sum = 0;
        for (uint32_t m = 0; m < bank->count; m++)
            sum += (double)bank->values[(size_t)m * bank->channels + c];
        shifts[c] = (float)(-sum / bank->count);
    }
}

/* What the product takes: -2 (b - mean) and |b - mean|^2. */
static void find_weights(const struct bank *bank, const float *shifts, float *weights,
                         float *biases)
{
    for (uint32_t m = 0; m < bank->count; m++) {
        double square = 0;
        for (uint32_t c = 0; c < bank->channels; c++) {
            const size_t at = (size_t)m * bank->channels + c;
            const float centred = bank->values[at] + shifts[c];
            weights[at] = -2 * centred;
            square += (double)centred * (double)centred;
        }
        biases[m] = (float)square;
    }
}

static bool set_weights(const struct nearest *n, glcnn_image_node *product, const float *shifts)
{
    const struct bank *bank = n->bank;
    const size_t values = (size_t)bank->count * bank->channels;
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_image_node_filter(product));
    float *weights = malloc(values * sizeof *weights);
    float *biases = malloc(bank->count * sizeof *biases);
    bool set = weights && biases;
    if (set) {
        find_weights(bank, shifts, weights, biases);
        set = good(glcnn_kernel_set_vector(kernel, "weights", weights, values)) &&
              good(glcnn_kernel_set_vector(kernel, "biases", biases, bank->count));
    }
    free(weights);
    free(biases);
    return set;
}

static bool make_graph(struct nearest *n, const float *shifts)
{
    const struct glcnn_convolution_descriptor of = {.kernel_width = 1,
                                                    .kernel_height = 1,
                                                    .input_feature_channels = n->bank->channels,
                                                    .output_feature_channels = n->bank->count};
    glcnn_image_node *patches = glcnn_image_node_create(n->network, "patches");
    glcnn_image_node *centred = glcnn_neuron_shift_node(patches, shifts, n->bank->channels);
    glcnn_image_node *product = glcnn_convolution_node(centred, &of, NULL);
    n->result = glcnn_reduce_feature_channels_argument_min_node(product);
    const struct glcnn_graph_descriptor descriptor = {.results = &n->result, .result_count = 1};
    return good(glcnn_network_status(n->network)) && set_weights(n, product, shifts) &&
           good(glcnn_graph_create(n->network, &descriptor, &n->graph));
}

bool nearest_create(glcnn_device *device, const struct bank *bank, const struct form *grid,
                    uint32_t batch, struct nearest *n)
{
    *n = (struct nearest){.bank = bank, .grid = *grid, .batch = batch};
    const size_t count = (size_t)nearest_count(n) * batch;
    n->patches = malloc(count * grid->channels * sizeof *n->patches);
    n->numbers = malloc(count * sizeof *n->numbers);
    n->distances = malloc(count * sizeof *n->distances);
    float *shifts = malloc(bank->channels * sizeof *shifts);
    bool made = n->patches && n->numbers && n->distances && shifts;
    if (made) {
        find_shifts(bank, shifts);
        made = good(glcnn_network_create(device, &n->network)) && make_graph(n, shifts);
    }
    free(shifts);
    return made;
}

void nearest_destroy(struct nearest *n)
{
    glcnn_graph_destroy(&n->graph);
    glcnn_network_destroy(&n->network);
    free(n->patches);
    free(n->numbers);
    free(n->distances);
    *n = (struct nearest){.bank = NULL};
}

/* ---- Batches ---- */

/* NAN where the patch has a value that is not finite. */
static double distance_of(const struct nearest *n, size_t patch)
{
    const struct bank *bank = n->bank;
    const float number = n->numbers[patch];
    if (!(number >= 0 && number < (float)bank->count))
        return NAN;
    double distance = bank_distance(n->patches + patch * bank->channels,
                                    bank->values + (size_t)number * bank->channels, bank->channels);
    return isfinite(distance) ? distance : NAN;
}

bool nearest_run(struct nearest *n, glcnn_image *patches)
{
    const size_t count = (size_t)nearest_count(n) * n->batch;
    glcnn_image *const sources[] = {patches};
    if (!good(glcnn_graph_execute(n->graph, sources, NULL, NULL)) ||
        !good(glcnn_image_read_bytes(patches, NULL, n->patches,
                                     count * n->grid.channels * sizeof *n->patches)) ||
        !good(glcnn_image_read_bytes(glcnn_graph_image(n->graph, n->result), NULL, n->numbers,
                                     count * sizeof *n->numbers)))
        return false;
    for (size_t i = 0; i < count; i++)
        n->distances[i] = distance_of(n, i);
    return true;
}

uint32_t nearest_worst(const struct nearest *n, uint32_t picture)
{
    const double *distances = n->distances + (size_t)picture * nearest_count(n);
    uint32_t worst = 0;
    for (uint32_t i = 0; i < nearest_count(n); i++) {
        if (isnan(distances[i]))
            return UINT32_MAX;
        if (distances[i] > distances[worst])
            worst = i;
    }
    return worst;
}
