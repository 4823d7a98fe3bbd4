/* Batch normalisations of a model that becomes int8: folded into the layer before them, or a convolution
 * of each channel by itself.
 *
 *   w' = w gamma / sqrt(variance + epsilon)   b' = (b - mean) gamma / sqrt(variance + epsilon) + beta */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/quantize.h"

/* What a normalisation does to a channel: x scale + shift. */
struct line {
    size_t channels;
    float *scale, *shift;
};

static void line_free(struct line *line)
{
    free(line->scale);
    free(line->shift);
}

/* Inputs 1 to 4 are gamma, beta, mean and variance. */
static bool read_line(struct quantizing *q, const Onnx__NodeProto *node, struct line *line)
{
    float *v[4];
    size_t count[4];
    const double epsilon = (double)quantizing_float(node, "epsilon", 1e-5f);
    for (size_t i = 0; i < 4; i++)
        v[i] = quantizing_numbers(q, node, 1 + i, &count[i]);
    bool fits = v[0] && v[1] && v[2] && v[3] && count[0] > 0;
    for (size_t i = 1; i < 4; i++)
        fits = fits && count[i] == count[0];
    *line = (struct line){.channels = count[0], .scale = v[0], .shift = v[1]};
    for (size_t c = 0; fits && c < count[0]; c++) {
        const double scale = (double)v[0][c] / sqrt((double)v[3][c] + epsilon);
        v[1][c] = (float)((double)v[1][c] - (double)v[2][c] * scale);
        v[0][c] = (float)scale;
    }
    free(v[2]);
    free(v[3]);
    if (fits)
        return true;
    line_free(line);
    return onnx_fail(&q->writer.messages, GLCNN_UNSUPPORTED,
                     "BatchNormalization \"%.80s\": its vectors are not initialisers of float32 "
                     "of one length",
                     text_of(node->name));
}

/* The layer that the normalisation can be folded into; NULL: there is none. */
static Onnx__NodeProto *find_layer(const struct quantizing *q, const Onnx__NodeProto *node,
                                   const struct line *line)
{
    struct channels channels;
    const size_t x = quantizing_value(q, node->input[0]);
    const struct quantized_value *value = x == NOWHERE ? NULL : &q->values[x];
    if (!value || value->maker == NOWHERE || value->readers != 1 || value->is_output)
        return NULL;
    Onnx__NodeProto *layer = q->graph->node[value->maker];
    const bool is_plain = quantizing_float(layer, "beta", 1) == 1 &&
                          strcmp(text_of(layer->op_type), "MatMul") != 0 && layer->n_input <= 3;
    const bool has_biases = layer->n_input > 2 && text_of(layer->input[2])[0];
    if (!is_plain || !quantizing_channels(q, layer, &channels) || channels.count != line->channels)
        return NULL;
    size_t count = 0;
    float *biases = has_biases ? quantizing_numbers(q, layer, 2, &count) : NULL;
    free(biases);
    return !has_biases || count == channels.count ? layer : NULL;
}

static bool set_input(struct quantizing *q, Onnx__NodeProto *node, size_t i, const char *name)
{
    char *copy = name ? strdup(name) : NULL;
    if (i >= node->n_input) {
        char **input = realloc(node->input, (i + 1) * sizeof *input);
        node->input = input ? input : node->input;
        if (!input || !copy) {
            free(copy);
            return onnx_no_memory(&q->writer.messages);
        }
        while (node->n_input <= i)
            node->input[node->n_input++] = NULL;
    }
    free(node->input[i]);
    node->input[i] = copy;
    return copy || onnx_no_memory(&q->writer.messages);
}

/* An initialiser for an input of the node. */
static void give_tensor(struct quantizing *q, Onnx__NodeProto *node, size_t i, const char *word,
                        const int64_t *dims, size_t rank, const float *values)
{
    struct writer *w = &q->writer;
    const char *name =
        quantizing_is_well(q) ? taken_add(w, &w->values, text_of(node->name), word) : NULL;
    if (name && set_input(q, node, i, name))
        build_tensor(w, q->graph, name, dims, rank, values, NULL);
}

static void fold_into(struct quantizing *q, Onnx__NodeProto *layer, const struct line *line)
{
    struct channels channels;
    size_t count, bias_count;
    const Onnx__TensorProto *tensor = quantizing_tensor(q, layer, 1);
    float *weights = quantizing_numbers(q, layer, 1, &count);
    float *biases = quantizing_numbers(q, layer, 2, &bias_count);
    if (!biases)
        biases = calloc(line->channels, sizeof *biases);
    if (!weights || !biases || !quantizing_channels(q, layer, &channels)) {
        onnx_no_memory(&q->writer.messages);
    } else {
        const int64_t channel_count = (int64_t)line->channels;
        for (size_t i = 0; i < count; i++)
            weights[i] *= line->scale[channel_of(&channels, i)];
        for (size_t c = 0; c < line->channels; c++)
            biases[c] = biases[c] * line->scale[c] + line->shift[c];
        give_tensor(q, layer, 1, "folded_weight", tensor->dims, tensor->n_dims, weights);
        give_tensor(q, layer, 2, "folded_bias", &channel_count, 1, biases);
    }
    free(weights);
    free(biases);
}

/* The node becomes a convolution, of each channel by itself. */
static void become_convolution(struct quantizing *q, Onnx__NodeProto *node, const struct line *line)
{
    const int64_t dims[] = {(int64_t)line->channels, 1, 1, 1};
    char *type = strdup("Conv");
    if (!type) {
        onnx_no_memory(&q->writer.messages);
        return;
    }
    quantizing_note(q,
                    "BatchNormalization \"%.80s\" is not behind a layer that it alone reads: it "
                    "becomes a convolution of each channel by itself",
                    text_of(node->name));
    free(node->op_type);
    node->op_type = type;
    while (node->n_attribute > 0)
        onnx__attribute_proto__free_unpacked(node->attribute[--node->n_attribute], NULL);
    while (node->n_input > 1)
        free(node->input[--node->n_input]);
    free(node->attribute);
    node->attribute = malloc(sizeof *node->attribute);
    if (!node->attribute) {
        onnx_no_memory(&q->writer.messages);
        return;
    }
    build_int(&q->writer, node, "group", (int64_t)line->channels);
    give_tensor(q, node, 1, "folded_weight", dims, 4, line->scale);
    give_tensor(q, node, 2, "folded_bias", dims, 1, line->shift);
}

/* The layer makes what the normalisation made. */
static void take_output(Onnx__NodeProto *layer, Onnx__NodeProto *node)
{
    char *name = layer->output[0];
    layer->output[0] = node->output[0];
    node->output[0] = name;
}

static bool fold_node(struct quantizing *q, Onnx__NodeProto *node, bool *is_folded)
{
    struct line line;
    if (!read_line(q, node, &line))
        return false;
    Onnx__NodeProto *layer = find_layer(q, node, &line);
    *is_folded = layer;
    if (layer) {
        fold_into(q, layer, &line);
        take_output(layer, node);
    } else {
        become_convolution(q, node, &line);
    }
    line_free(&line);
    return quantizing_is_well(q);
}

/* Nodes that are folded go once all names of values have been used. */
static void drop_nodes(Onnx__GraphProto *graph, const bool *is_folded)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->n_node; i++)
        if (is_folded[i])
            onnx__node_proto__free_unpacked(graph->node[i], NULL);
        else
            graph->node[kept++] = graph->node[i];
    graph->n_node = kept;
}

bool quantizing_fold(struct quantizing *q)
{
    Onnx__GraphProto *graph = q->graph;
    bool *is_folded = calloc(graph->n_node + 1, sizeof *is_folded);
    bool good = is_folded || onnx_no_memory(&q->writer.messages);
    good = good && quantizing_find_values(q);
    for (size_t i = 0; good && i < graph->n_node; i++)
        if (strcmp(text_of(graph->node[i]->op_type), "BatchNormalization") == 0 &&
            graph->node[i]->n_input == 5 && graph->node[i]->n_output == 1)
            good = fold_node(q, graph->node[i], &is_folded[i]);
    if (good)
        drop_nodes(graph, is_folded);
    free(is_folded);
    return good;
}
