/* What trains of a model that was imported: the parameters of a record by the layers that have them.
 * Running statistics are no parameters, and layers that share a kernel train its vectors once. */
#include "parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/show.h"

#define MOST_LINES  16 /* of layers and their parameters, where not all are wanted */
#define MOST_FROZEN 8
#define SHAPE       (GLCNN_ONNX_RANK * 21)

/* A filter with parameters that train: those from `first` on, of which only some may. */
struct layer {
    glcnn_filter_node *filter;
    size_t first, end;
    bool again; /* an earlier one has its kernel */
};

struct layers {
    struct layer *all;
    size_t count;
};

/* ---- Numbers ---- */

static unsigned long long count_of(const struct glcnn_onnx_parameter *p)
{
    unsigned long long count = 1;
    for (uint32_t i = 0; i < p->rank; i++)
        count *= (unsigned long long)p->dimensions[i];
    return count;
}

static bool is_trained(const struct glcnn_onnx_parameter *p)
{
    return strcmp(p->vector, "mean") != 0 && strcmp(p->vector, "variance") != 0;
}

/* Of the parameters of a layer. */
struct sum {
    size_t parameters;
    unsigned long long numbers;
};

static struct sum sum_of(const struct glcnn_onnx_record *record, const struct layer *layer)
{
    struct sum sum = {0, 0};
    for (size_t i = layer->first; i < layer->end; i++)
        if (is_trained(&record->parameters[i])) {
            sum.parameters++;
            sum.numbers += count_of(&record->parameters[i]);
        }
    return sum;
}

/* ---- Layers ---- */

/* The filter of that label from *at on, or before it; *at is behind it then. NULL: there is none. */
static glcnn_filter_node *find(const glcnn_network *network, const char *label, size_t *at)
{
    glcnn_filter_node *filter;
    for (size_t begin = *at, wrapped = 0; wrapped < 2; begin = 0, wrapped++)
        for (size_t i = begin; (filter = glcnn_network_filter(network, i)) != NULL; i++)
            if (strcmp(glcnn_filter_node_label(filter), label) == 0) {
                *at = i + 1;
                return filter;
            }
    return NULL;
}

static size_t end_of(const struct glcnn_onnx_record *record, size_t first)
{
    size_t end = first + 1;
    while (end < record->parameter_count &&
           strcmp(record->parameters[end].filter, record->parameters[first].filter) == 0)
        end++;
    return end;
}

static int by_kernel(const void *a, const void *b)
{
    const struct layer *one = *(struct layer *const *)a, *other = *(struct layer *const *)b;
    uintptr_t first = (uintptr_t)glcnn_filter_node_kernel(one->filter);
    uintptr_t second = (uintptr_t)glcnn_filter_node_kernel(other->filter);
    return first != second ? (first > second) - (first < second) : (one > other) - (one < other);
}

/* Leaves those that are the first with their kernel. */
static bool drop_again(struct layers *layers)
{
    size_t count = 0;
    struct layer **sorted = calloc(layers->count + 1, sizeof *sorted);
    for (size_t i = 0; sorted && i < layers->count; i++)
        sorted[i] = &layers->all[i];
    if (!sorted)
        return false;
    qsort(sorted, layers->count, sizeof *sorted, by_kernel);
    for (size_t i = 1; i < layers->count; i++)
        sorted[i]->again = glcnn_filter_node_kernel(sorted[i]->filter) ==
                           glcnn_filter_node_kernel(sorted[i - 1]->filter);
    free(sorted);
    for (size_t i = 0; i < layers->count; i++)
        if (!layers->all[i].again)
            layers->all[count++] = layers->all[i];
    layers->count = count;
    return true;
}

static bool gather(const glcnn_network *network, const struct glcnn_onnx_record *record,
                   struct layers *layers)
{
    size_t at = 0;
    *layers = (struct layers){calloc(record->parameter_count + 1, sizeof *layers->all), 0};
    for (size_t i = 0, end; layers->all && i < record->parameter_count; i = end) {
        struct layer *layer = &layers->all[layers->count];
        end = end_of(record, i);
        *layer = (struct layer){find(network, record->parameters[i].filter, &at), i, end, false};
        layers->count += layer->filter && sum_of(record, layer).parameters > 0 &&
                         glcnn_filter_node_training_style(layer->filter) !=
                             GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE;
    }
    return layers->all && drop_again(layers);
}

/* ---- Lines ---- */

static void print_parameter(struct text *text, const struct glcnn_onnx_parameter *p)
{
    char shape[SHAPE] = "1";
    for (uint32_t i = 0, length = 0; i < p->rank; i++)
        length += (uint32_t)snprintf(shape + length, sizeof shape - length, "%s%lld", i ? "x" : "",
                                     (long long)p->dimensions[i]);
    text_show(text, "  %-44s %18s %12llu\n", p->name, shape, count_of(p));
}

/* Returns how many lines. */
static size_t print_layer(struct text *text, const struct glcnn_onnx_record *record,
                          const struct layer *layer)
{
    struct sum sum = sum_of(record, layer);
    text_show(text, "layer %s: %llu\n", glcnn_filter_node_label(layer->filter), sum.numbers);
    for (size_t i = layer->first; i < layer->end; i++)
        if (is_trained(&record->parameters[i]))
            print_parameter(text, &record->parameters[i]);
    return sum.parameters + 1;
}

static void print_layers(struct text *text, const struct glcnn_onnx_record *record,
                         const struct layers *layers, bool all)
{
    size_t told = 0;
    for (size_t lines = 0; told < layers->count && (all || lines < MOST_LINES); told++)
        lines += print_layer(text, record, &layers->all[told]);
    if (told < layers->count)
        text_show(text, "and %zu more layers that train: --parameters lists all\n",
                  layers->count - told);
}

void parameters_describe_frozen(const struct glcnn_onnx_record *record, bool all, struct text *text)
{
    size_t count = record->frozen_count;
    size_t told = all || count <= MOST_FROZEN ? count : MOST_FROZEN;
    for (size_t i = 0; i < told; i++)
        text_show(text, "frozen: %s (%s)\n", record->frozen[i].name, record->frozen[i].reason);
    if (told < count)
        text_show(text, "and %zu more that do not train: glcnn import --parameters lists all\n",
                  count - told);
}

static void print_totals(struct text *text, const struct glcnn_onnx_record *record,
                         const struct layers *layers)
{
    struct sum total = {0, 0};
    for (size_t i = 0; i < layers->count; i++) {
        struct sum sum = sum_of(record, &layers->all[i]);
        total.parameters += sum.parameters;
        total.numbers += sum.numbers;
    }
    text_show(text,
              "trainable: %llu numbers, %zu parameters of %zu layers; %zu parameters are frozen\n",
              total.numbers, total.parameters, layers->count, record->frozen_count);
}

bool parameters_describe(const glcnn_network *network, const struct glcnn_onnx_record *record,
                         bool all, struct text *text)
{
    struct layers layers;
    bool good = gather(network, record, &layers);
    if (good) {
        print_layers(text, record, &layers, all);
        parameters_describe_frozen(record, all, text);
        print_totals(text, record, &layers);
    }
    free(layers.all);
    return good;
}
