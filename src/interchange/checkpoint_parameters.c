/* What a network has to save: vectors of its kernels, of their optimizers, and counters. */
#include "checkpoint_parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glcnn/kernels/neuron.h>
#include <glcnn/kernels/optimizer.h>

#include "base/array.h"

#define SLOPES "neuron_data"

/* ---- Kernels ---- */

/* What a kernel may own. Lengths may be unknown until it is trained or has met its first image. */
static const struct vector_kind {
    const char *name;
    float neutral;
} kinds[] = {{"weights", 0}, {"biases", 0},   {"gamma", 1},     {"beta", 0},
             {"mean", 0},    {"variance", 1}, {"deviation", 1}, {SLOPES, 0},
             {"values", 0},  {"indices", 0},  {"regions", 0}};

const char *const checkpoint_moments[MOMENTS] = {"first", "second"};

static const struct glcnn_kernel_info *info_of(const glcnn_kernel *kernel)
{
    return glcnn_kernel_info_by_name(glcnn_kernel_name(kernel));
}

static bool takes_vector(const glcnn_kernel *kernel, const char *name)
{
    const struct glcnn_kernel_info *info = info_of(kernel);
    for (size_t i = 0; info && i < info->argument_count; i++)
        if (strcmp(info->arguments[i].name, name) == 0)
            return !info->arguments[i].is_image && info->arguments[i].is_input;
    return false;
}

static bool lacks_biases(glcnn_kernel *kernel)
{
    double without = 0;
    return glcnn_kernel_get(kernel, "without_biases", &without) == GLCNN_SUCCESS && without != 0;
}

/* Any kernel with a neuron could take slopes; few types have them. */
static bool owns_vector(glcnn_kernel *kernel, const char *name)
{
    double neuron = 0;
    return takes_vector(kernel, name) && !(strcmp(name, "biases") == 0 && lacks_biases(kernel)) &&
           (strcmp(name, SLOPES) != 0 ||
            (glcnn_kernel_get(kernel, "neuron_type", &neuron) == GLCNN_SUCCESS &&
             glcnn_neuron_has_slopes((glcnn_neuron_type)neuron)));
}

static uint64_t extent(glcnn_kernel *kernel, const char *name)
{
    double value = 0;
    return glcnn_kernel_get(kernel, name, &value) == GLCNN_SUCCESS && value > 0 ? (uint64_t)value
                                                                                : 1;
}

/* Of an optimizer's vector: is it one of some channels alone? */
static bool is_part(const struct parameter *p)
{
    const glcnn_buffer *whole = p->is_moment ? glcnn_kernel_vector(p->kernel, p->vector) : NULL;
    return whole && glcnn_buffer_size(whole) / 4 != p->count;
}

void parameter_find_shape(struct parameter *p)
{
    p->rank = 1;
    p->shape[0] = p->count;
    if (strcmp(p->vector, "weights") != 0 || !p->count || is_part(p))
        return;
    const uint64_t outputs = extent(p->kernel, "output_feature_channels"),
                   height = extent(p->kernel, "kernel_height"),
                   width = extent(p->kernel, "kernel_width"), taps = outputs * height * width;
    if (p->count % taps != 0)
        return;
    p->rank = 4;
    memcpy(p->shape, (uint64_t[]){outputs, height, width, p->count / taps}, sizeof p->shape);
}

/* ---- The list ---- */

glcnn_status checkpoint_no_memory(char *error)
{
    return fail_with(error, GLCNN_OUT_OF_MEMORY, "checkpoint: out of memory");
}

void parameters_release(struct parameters *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->at[i].name);
    free(list->at);
}

static glcnn_status append(struct parameters *list, const struct parameter *p, const char *label,
                           const char *moment)
{
    struct parameter *grown = array_grow(list->at, list->count, &list->capacity, sizeof *grown);
    if (!grown)
        return checkpoint_no_memory(list->error);
    list->at = grown;
    char name[MAX_NAME];
    int length = snprintf(name, sizeof name, "%s.%s%s%s", label, p->vector,
                          moment ? ".optimizer." : "", moment ? moment : "");
    if (length < 0 || length >= MAX_NAME || !checkpoint_is_utf8(name))
        return fail_with(list->error, GLCNN_INVALID_ARGUMENT,
                         "the label \"%.100s\" is %s: set another, it names tensors", label,
                         length >= MAX_NAME ? "too long" : "not UTF-8");
    struct parameter *made = &list->at[list->count];
    *made = *p;
    made->name = strdup(name);
    if (!made->name)
        return checkpoint_no_memory(list->error);
    list->count++;
    parameter_find_shape(made);
    return GLCNN_SUCCESS;
}

const char *checkpoint_entry_of(const cJSON *metadata, const char *prefix, const char *label)
{
    char name[MAX_NAME + 32];
    snprintf(name, sizeof name, "%s.%s", prefix, label);
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metadata, name));
}

/* What keeps the device from making a vector: where it is nothing that it can tell, a lack of memory. */
static glcnn_status no_vector(const struct parameters *list, glcnn_kernel *kernel)
{
    glcnn_device *device = glcnn_kernel_device(kernel);
    glcnn_status status = glcnn_device_wait(device);
    return status == GLCNN_SUCCESS
               ? checkpoint_no_memory(list->error)
               : fail_with(list->error, status, "checkpoint: %s", glcnn_device_error(device));
}

static glcnn_status unknown_length(const struct parameters *list, const char *label,
                                   const char *vector)
{
    return fail_with(
        list->error, GLCNN_INVALID_ARGUMENT,
        "%.100s.%s: its length is not known yet; set input_feature_channels, or for a "
        "normalisation call glcnn_network_initialise, or execute a graph of the network first",
        label, vector);
}

/* State vectors of the optimizer, unless a file has nothing of it for this label. */
static glcnn_status append_moments(struct parameters *list, const struct parameter *p,
                                   const struct vector_kind *kind, const char *label)
{
    glcnn_status status = GLCNN_SUCCESS;
    unsigned count = glcnn_kernel_optimizer_vector_count(p->kernel, kind->name);
    if (list->file && !checkpoint_entry_of(list->file->metadata, "optimizer", label))
        return GLCNN_SUCCESS;
    if (count && !p->count)
        return unknown_length(list, label, kind->name);
    for (unsigned i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        struct parameter moment = *p;
        moment.is_moment = true;
        moment.buffer = glcnn_kernel_optimizer_vector(p->kernel, p->vector, i);
        if (!moment.buffer)
            return no_vector(list, p->kernel);
        moment.count = glcnn_buffer_size(moment.buffer) / 4; /* of the channels that learn */
        status = append(list, &moment, label, checkpoint_moments[i]);
    }
    return status;
}

/* Channels of a normalisation or a neuron that has not met its first image. Those of a neuron behind
 * weights follow from the weights. */
static uint32_t expected_channels(const glcnn_kernel *kernel)
{
    const struct glcnn_data_source *source = glcnn_kernel_data_source(kernel);
    bool follows = takes_vector(kernel, "gamma") ||
                   (takes_vector(kernel, SLOPES) && !takes_vector(kernel, "weights"));
    return source && follows ? source->feature_channels : 0;
}

static glcnn_status append_vector(struct parameters *list, glcnn_kernel *kernel,
                                  const struct vector_kind *kind, const char *label)
{
    struct parameter p = {.kernel = kernel, .vector = kind->name, .neutral = kind->neutral};
    p.count = glcnn_kernel_vector_length(kernel, kind->name);
    p.buffer = p.count ? glcnn_kernel_vector(kernel, kind->name) : NULL;
    if (p.count && !p.buffer)
        return no_vector(list, kernel);
    p.count = p.buffer ? glcnn_buffer_size(p.buffer) / 4 : expected_channels(kernel);
    /* A file tells lengths of one dimension. */
    if (!p.count && (!list->file || strcmp(kind->name, "weights") == 0))
        return unknown_length(list, label, kind->name);
    glcnn_status status = append(list, &p, label, NULL);
    return status == GLCNN_SUCCESS ? append_moments(list, &p, kind, label) : status;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All labels, whether a filter has anything to save or not, so that a network that can be saved
 * still can when one is trained. */
static glcnn_status check_labels(const struct parameters *list, glcnn_network *network)
{
    size_t count = 0, i = 0;
    glcnn_filter_node *node;
    const char *repeated = NULL;
    while (glcnn_network_filter(network, i))
        i++;
    const char **labels = calloc(i + 1, sizeof *labels);
    if (!labels)
        return checkpoint_no_memory(list->error);
    for (i = 0; (node = glcnn_network_filter(network, i)); i++)
        if (!glcnn_filter_node_forward(node, NULL))
            labels[count++] = glcnn_filter_node_label(node);
    qsort(labels, count, sizeof *labels, compare_texts);
    for (i = 1; i < count && !repeated; i++)
        repeated = strcmp(labels[i - 1], labels[i]) == 0 ? labels[i] : NULL;
    free(labels);
    if (!repeated)
        return GLCNN_SUCCESS;
    return fail_with(list->error, GLCNN_INVALID_ARGUMENT,
                     "two filters of the network have the label \"%.200s\", which names what "
                     "is saved; give them labels of their own",
                     repeated);
}

bool checkpoint_has(const glcnn_filter_node *node)
{
    return !glcnn_filter_node_forward(node, NULL) && !glcnn_filter_node_shared_with(node);
}

glcnn_status parameters_collect(struct parameters *list, glcnn_network *network)
{
    glcnn_filter_node *node;
    glcnn_status status = check_labels(list, network);
    for (size_t i = 0; status == GLCNN_SUCCESS && (node = glcnn_network_filter(network, i)); i++) {
        glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
        if (!checkpoint_has(node))
            continue;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds && status == GLCNN_SUCCESS; k++)
            if (owns_vector(kernel, kinds[k].name))
                status = append_vector(list, kernel, &kinds[k], glcnn_filter_node_label(node));
    }
    return status;
}

glcnn_status checkpoint_check_arguments(glcnn_network *network, const char *path, char *error)
{
    if (error)
        error[0] = 0;
    if (!network || !path)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "checkpoint: %s is NULL",
                         network ? "the path or the range" : "network");
    if (glcnn_network_status(network) != GLCNN_SUCCESS)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "checkpoint: the network could not be made: see its device's error");
    return GLCNN_SUCCESS;
}

/* ---- Values ---- */

static glcnn_status fail_write(const struct parameter *p, glcnn_status status, char *error)
{
    return status == GLCNN_SUCCESS
               ? status
               : fail_with(error, status, "%.200s cannot be written to the device: %s", p->name,
                           glcnn_device_error(glcnn_kernel_device(p->kernel)));
}

glcnn_status parameter_make(const struct parameter *p, char *error)
{
    float *values = p->buffer ? NULL : malloc((size_t)p->count * 4);
    if (p->buffer)
        return GLCNN_SUCCESS;
    if (!values)
        return checkpoint_no_memory(error);
    for (size_t i = 0; i < (size_t)p->count; i++)
        values[i] = p->neutral;
    glcnn_status status = glcnn_kernel_set_vector(p->kernel, p->vector, values, (size_t)p->count);
    free(values);
    return fail_write(p, status, error);
}

glcnn_status parameter_write(const struct parameter *p, const void *values, char *error)
{
    glcnn_buffer *buffer = p->is_moment ? p->buffer : glcnn_kernel_vector(p->kernel, p->vector);
    return fail_write(p, glcnn_buffer_write(buffer, 0, (size_t)p->count * 4, values), error);
}

void checkpoint_print_shape(char text[SHAPE_TEXT], const uint64_t *shape, uint32_t rank)
{
    size_t length = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < rank && length < 100; i++)
        length += (size_t)snprintf(text + length, SHAPE_TEXT - length, "%s%llu", i ? " x " : "",
                                   (unsigned long long)shape[i]);
}

/* ---- Counters ---- */

static bool get_time_step(glcnn_kernel *kernel, uint32_t *value)
{
    glcnn_kernel *optimizer = glcnn_kernel_optimizer(kernel);
    if (optimizer)
        *value = glcnn_optimizer(optimizer)->time_step;
    return optimizer;
}

static void set_time_step(glcnn_kernel *kernel, uint32_t value)
{
    glcnn_optimizer(glcnn_kernel_optimizer(kernel))->time_step = value;
}

static bool get_encodes(glcnn_kernel *kernel, uint32_t *value)
{
    const struct glcnn_kernel_info *info = info_of(kernel);
    *value = glcnn_kernel_encode_count(kernel);
    return info && info->is_random;
}

const struct checkpoint_counter checkpoint_counters[CHECKPOINT_COUNTERS] = {
    {"time_step", get_time_step, set_time_step},
    {"encodes", get_encodes, glcnn_kernel_set_encode_count}};

void checkpoint_swap_to_little_endian(void *values, uint64_t count)
{
    uint8_t *at = values;
    for (uint64_t i = 0; i < count; i++, at += 4) {
        uint32_t bits;
        memcpy(&bits, at, sizeof bits);
        for (unsigned b = 0; b < 4; b++)
            at[b] = (uint8_t)(bits >> 8 * b);
    }
}

uint64_t parameter_wrong_value(const struct parameter *p, const float *values,
                               const char **expected)
{
    return glcnn_kernel_wrong_value(p->is_moment ? NULL : p->vector, values, (size_t)p->count,
                                    expected);
}
