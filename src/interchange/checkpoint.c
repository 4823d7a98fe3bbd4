/* A network's parameters and the state of its training as tensors with names.
 *
 * Invariant: a list of parameters has all that a network's checkpoint has, in the order of its
 * filters, each with the name and the shape that it has in the file; saving writes the list,
 * loading compares it with the file before it writes to any of it. */
#include "glcnn/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glcnn/kernels/neuron.h>
#include <glcnn/kernels/optimizer.h>

#include "checkpoint_file.h"

#define MAX_NAME 1024
#define MOMENTS  2
#define SLOPES   "neuron_data"

struct parameter {
    char *name;
    glcnn_kernel *kernel;
    const char *vector;
    glcnn_buffer *buffer; /* NULL: not made yet, neutral */
    float neutral;
    bool is_moment; /* a state vector of the kernel's optimizer */
    uint64_t shape[4];
    uint32_t rank;
    uint64_t count;                         /* product of the shape; 0: not known yet */
    const struct checkpoint_tensor *tensor; /* when loading */
};

struct parameters {
    struct parameter *at;
    size_t count, capacity;
    const struct checkpoint_file *file; /* that is loaded; NULL: saving */
    char *error;
};

/* ---- Kernels ---- */

/* What a kernel may own. Lengths may be unknown until it is trained or has met its first image. */
static const struct vector_kind {
    const char *name;
    float neutral;
    bool is_stepped; /* by the optimizer of a kernel that is trained */
} kinds[] = {{"weights", 0, true}, {"biases", 0, true},    {"gamma", 1, true}, {"beta", 0, true},
             {"mean", 0, false},   {"variance", 1, false}, {SLOPES, 0, false}};

static const char *const moments[MOMENTS] = {"first", "second"};

static bool takes_vector(const glcnn_kernel *kernel, const char *name)
{
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(glcnn_kernel_name(kernel));
    for (size_t i = 0; info && i < info->argument_count; i++)
        if (strcmp(info->arguments[i].name, name) == 0)
            return !info->arguments[i].is_image && info->arguments[i].is_input;
    return false;
}

/* Any kernel with a neuron could take slopes; PReLU alone has them. */
static bool owns_vector(glcnn_kernel *kernel, const char *name)
{
    double neuron = 0;
    return takes_vector(kernel, name) &&
           (strcmp(name, SLOPES) != 0 ||
            (glcnn_kernel_get(kernel, "neuron_type", &neuron) == GLCNN_SUCCESS &&
             (glcnn_neuron_type)neuron == GLCNN_NEURON_TYPE_PRELU));
}

static uint64_t extent(glcnn_kernel *kernel, const char *name)
{
    double value = 0;
    return glcnn_kernel_get(kernel, name, &value) == GLCNN_SUCCESS && value > 0 ? (uint64_t)value
                                                                                : 1;
}

/* [Co][kH][kW][Ci / groups] for weights, where that is their number; else one dimension. */
static void find_shape(struct parameter *p)
{
    p->rank = 1;
    p->shape[0] = p->count;
    if (strcmp(p->vector, "weights") != 0 || !p->count)
        return;
    const uint64_t outputs = extent(p->kernel, "output_feature_channels"),
                   height = extent(p->kernel, "kernel_height"),
                   width = extent(p->kernel, "kernel_width"), taps = outputs * height * width;
    if (p->count % taps != 0)
        return;
    p->rank = 4;
    memcpy(p->shape, (uint64_t[]){outputs, height, width, p->count / taps}, sizeof p->shape);
}

/* How many state vectors the kernel's optimizer keeps for each vector that it steps. */
static unsigned moment_count(const glcnn_kernel *kernel, const struct vector_kind *kind)
{
    glcnn_kernel *optimizer = glcnn_kernel_optimizer(kernel);
    const char *name = optimizer ? glcnn_kernel_name(optimizer) : "";
    if (!optimizer || !kind->is_stepped)
        return 0;
    if (strcmp(name, "optimizer_stochastic_gradient_descent") == 0)
        return glcnn_optimizer(optimizer)->momentum_scale != 0;
    return strcmp(name, "optimizer_adam") == 0 ? 2 : 1;
}

/* ---- The list ---- */

static glcnn_status no_memory(char *error)
{
    return checkpoint_fail(error, GLCNN_OUT_OF_MEMORY, "checkpoint: out of memory");
}

static void release(struct parameters *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->at[i].name);
    free(list->at);
}

static glcnn_status append(struct parameters *list, const struct parameter *p, const char *label,
                           const char *moment)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct parameter *grown = realloc(list->at, capacity * sizeof *grown);
        if (!grown)
            return no_memory(list->error);
        list->at = grown;
        list->capacity = capacity;
    }
    char name[MAX_NAME];
    int length = snprintf(name, sizeof name, "%s.%s%s%s", label, p->vector,
                          moment ? ".optimizer." : "", moment ? moment : "");
    if (length < 0 || length >= MAX_NAME || !checkpoint_is_utf8(name))
        return checkpoint_fail(list->error, GLCNN_INVALID_ARGUMENT,
                               "the label \"%.100s\" is %s: set another, it names tensors", label,
                               length >= MAX_NAME ? "too long" : "not UTF-8");
    struct parameter *made = &list->at[list->count];
    *made = *p;
    made->name = strdup(name);
    if (!made->name)
        return no_memory(list->error);
    list->count++;
    find_shape(made);
    return GLCNN_SUCCESS;
}

/* The text of a file's metadata PREFIX.LABEL; NULL if there is none. */
static const char *entry_of(const cJSON *metadata, const char *prefix, const char *label)
{
    char name[MAX_NAME + 32];
    snprintf(name, sizeof name, "%s.%s", prefix, label);
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metadata, name));
}

static glcnn_status unknown_length(const struct parameters *list, const char *label,
                                   const char *vector)
{
    return checkpoint_fail(
        list->error, GLCNN_INVALID_ARGUMENT,
        "%.100s.%s: its length is not known yet; set input_feature_channels, or for a "
        "normalisation train the network or execute a graph of it first",
        label, vector);
}

/* State vectors of the optimizer, unless a file has nothing of it for this label. */
static glcnn_status append_moments(struct parameters *list, const struct parameter *p,
                                   const struct vector_kind *kind, const char *label)
{
    glcnn_status status = GLCNN_SUCCESS;
    unsigned count = moment_count(p->kernel, kind);
    if (list->file && !entry_of(list->file->metadata, "optimizer", label))
        return GLCNN_SUCCESS;
    if (count && !p->count)
        return unknown_length(list, label, kind->name);
    for (unsigned i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        struct parameter moment = *p;
        moment.is_moment = true;
        moment.buffer = glcnn_kernel_optimizer_vector(p->kernel, p->vector, i);
        if (!moment.buffer)
            return no_memory(list->error);
        status = append(list, &moment, label, moments[i]);
    }
    return status;
}

/* Channels of a normalisation that has not met its first image. */
static uint32_t expected_channels(const glcnn_kernel *kernel)
{
    const struct glcnn_data_source *source = glcnn_kernel_data_source(kernel);
    return source && takes_vector(kernel, "gamma") ? source->feature_channels : 0;
}

static glcnn_status append_vector(struct parameters *list, glcnn_kernel *kernel,
                                  const struct vector_kind *kind, const char *label)
{
    struct parameter p = {.kernel = kernel, .vector = kind->name, .neutral = kind->neutral};
    p.buffer = glcnn_kernel_vector(kernel, kind->name);
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
        return no_memory(list->error);
    for (i = 0; (node = glcnn_network_filter(network, i)); i++)
        if (!glcnn_filter_node_forward(node, NULL))
            labels[count++] = glcnn_filter_node_label(node);
    qsort(labels, count, sizeof *labels, compare_texts);
    for (i = 1; i < count && !repeated; i++)
        repeated = strcmp(labels[i - 1], labels[i]) == 0 ? labels[i] : NULL;
    free(labels);
    if (!repeated)
        return GLCNN_SUCCESS;
    return checkpoint_fail(list->error, GLCNN_INVALID_ARGUMENT,
                           "two filters of the network have the label \"%.200s\", which names what "
                           "is saved; give them labels of their own",
                           repeated);
}

static glcnn_status collect(struct parameters *list, glcnn_network *network)
{
    glcnn_filter_node *node;
    glcnn_status status = check_labels(list, network);
    for (size_t i = 0; status == GLCNN_SUCCESS && (node = glcnn_network_filter(network, i)); i++) {
        glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
        if (glcnn_filter_node_forward(node, NULL))
            continue; /* its kernel has its forward kernel's vectors, and its label */
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds && status == GLCNN_SUCCESS; k++)
            if (owns_vector(kernel, kinds[k].name))
                status = append_vector(list, kernel, &kinds[k], glcnn_filter_node_label(node));
    }
    return status;
}

static glcnn_status check_arguments(glcnn_network *network, const char *path, char *error)
{
    if (error)
        error[0] = 0;
    if (!network || !path)
        return checkpoint_fail(error, GLCNN_INVALID_ARGUMENT, "checkpoint: %s is NULL",
                               network ? "path" : "network");
    if (glcnn_network_status(network) != GLCNN_SUCCESS)
        return checkpoint_fail(error, GLCNN_INVALID_ARGUMENT,
                               "checkpoint: the network could not be made: see its device's error");
    return GLCNN_SUCCESS;
}

/* ---- Counters ---- */

/* Whole numbers that training goes on from, in the metadata as NAME.LABEL: the optimizer's steps,
 * and the masks that dropout has drawn. */
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
    *value = glcnn_kernel_encode_count(kernel);
    return strcmp(glcnn_kernel_name(kernel), "dropout") == 0;
}

static const struct counter {
    const char *name;
    bool (*get)(glcnn_kernel *kernel, uint32_t *value); /* false: the kernel has none */
    void (*set)(glcnn_kernel *kernel, uint32_t value);
} counters[] = {{"time_step", get_time_step, set_time_step},
                {"encodes", get_encodes, glcnn_kernel_set_encode_count}};

/* ---- Saving ---- */

static bool add_text(cJSON *object, const char *prefix, const char *label, const char *text)
{
    char name[MAX_NAME + 32];
    snprintf(name, sizeof name, "%s.%s", prefix, label);
    return cJSON_AddStringToObject(object, name, text);
}

static bool add_counters(cJSON *object, glcnn_filter_node *node)
{
    glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
    glcnn_kernel *optimizer = glcnn_kernel_optimizer(kernel);
    const char *label = glcnn_filter_node_label(node);
    bool good = !optimizer || add_text(object, "optimizer", label, glcnn_kernel_name(optimizer));
    for (size_t i = 0; i < sizeof counters / sizeof *counters && good; i++) {
        uint32_t value;
        char number[16];
        if (!counters[i].get(kernel, &value))
            continue;
        snprintf(number, sizeof number, "%u", value);
        good = add_text(object, counters[i].name, label, number);
    }
    return good;
}

static glcnn_status add_all_counters(cJSON *object, glcnn_network *network, char *error)
{
    glcnn_filter_node *node;
    bool good = true;
    for (size_t i = 0; good && (node = glcnn_network_filter(network, i)); i++)
        if (!glcnn_filter_node_forward(node, NULL))
            good = add_counters(object, node);
    return good ? GLCNN_SUCCESS : no_memory(error);
}

static glcnn_status add_entries(cJSON *object, const struct glcnn_checkpoint_entry *entries,
                                size_t count, char *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = entries[i].name, *text = entries[i].text;
        if (!name || !text || !checkpoint_is_utf8(name) || !checkpoint_is_utf8(text))
            return checkpoint_fail(error, GLCNN_INVALID_ARGUMENT,
                                   "metadata %zu has no name or no text, or one that is not UTF-8",
                                   i);
        if (cJSON_GetObjectItemCaseSensitive(object, name))
            return checkpoint_fail(error, GLCNN_INVALID_ARGUMENT,
                                   "metadata \"%.200s\" is given twice, or written by the library",
                                   name);
        if (!cJSON_AddStringToObject(object, name, text))
            return no_memory(error);
    }
    return GLCNN_SUCCESS;
}

static bool add_tensor(cJSON *header, const struct parameter *p, uint64_t *offset)
{
    cJSON *entry = cJSON_AddObjectToObject(header, p->name);
    cJSON *dtype = entry ? cJSON_AddStringToObject(entry, "dtype", "F32") : NULL;
    cJSON *shape = dtype ? cJSON_AddArrayToObject(entry, "shape") : NULL;
    bool good = shape;
    for (uint32_t i = 0; i < p->rank && good; i++)
        good = cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)p->shape[i]));
    cJSON *offsets = good ? cJSON_AddArrayToObject(entry, "data_offsets") : NULL;
    uint64_t end = *offset + p->count * 4;
    good = offsets && cJSON_AddItemToArray(offsets, cJSON_CreateNumber((double)*offset)) &&
           cJSON_AddItemToArray(offsets, cJSON_CreateNumber((double)end));
    *offset = end;
    return good;
}

/* The length and the JSON, padded so that tensors begin at a multiple of eight. */
static uint8_t *frame_header(const char *json, size_t *size)
{
    size_t length = strlen(json), padded = (length + 7) / 8 * 8;
    uint8_t *bytes = malloc(8 + padded);
    if (!bytes)
        return NULL;
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)((uint64_t)padded >> 8 * i);
    memcpy(bytes + 8, json, length);
    memset(bytes + 8 + length, ' ', padded - length);
    *size = 8 + padded;
    return bytes;
}

static glcnn_status make_header(const struct parameters *list, cJSON *header, uint8_t **bytes,
                                size_t *size)
{
    uint64_t offset = 0;
    bool good = true;
    for (size_t i = 0; i < list->count && good; i++)
        good = add_tensor(header, &list->at[i], &offset);
    char *json = good ? cJSON_PrintUnformatted(header) : NULL;
    bool fits = json && strlen(json) <= CHECKPOINT_MAX_HEADER - 8;
    *bytes = fits ? frame_header(json, size) : NULL;
    cJSON_free(json);
    if (json && !fits)
        return checkpoint_fail(list->error, GLCNN_INVALID_ARGUMENT,
                               "the header would have more than %u bytes: give fewer metadata",
                               CHECKPOINT_MAX_HEADER);
    return *bytes ? GLCNN_SUCCESS : no_memory(list->error);
}

struct output {
    const struct parameters *list;
    const void *header;
    size_t header_size;
    float *values; /* of the parameter at hand */
};

/* Elements of four bytes from host order to little-endian, or back, in place. */
static void swap_to_little_endian(void *values, uint64_t count)
{
    uint8_t *at = values;
    for (uint64_t i = 0; i < count; i++, at += 4) {
        uint32_t bits;
        memcpy(&bits, at, sizeof bits);
        for (unsigned b = 0; b < 4; b++)
            at[b] = (uint8_t)(bits >> 8 * b);
    }
}

static glcnn_status read_values(const struct parameter *p, float *values, char *error)
{
    size_t size = (size_t)p->count * 4;
    for (uint64_t i = 0; i < p->count && !p->buffer; i++)
        values[i] = p->neutral;
    glcnn_status status = p->buffer ? glcnn_buffer_read(p->buffer, 0, size, values) : GLCNN_SUCCESS;
    if (status != GLCNN_SUCCESS)
        return checkpoint_fail(error, status, "%.200s cannot be read from the device: %s", p->name,
                               glcnn_status_text(status));
    swap_to_little_endian(values, p->count);
    return GLCNN_SUCCESS;
}

static glcnn_status next_part(void *context, size_t index, const void **bytes, size_t *size,
                              char *error)
{
    struct output *o = context;
    if (index == 0) {
        *bytes = o->header;
        *size = o->header_size;
        return GLCNN_SUCCESS;
    }
    const struct parameter *p = &o->list->at[index - 1];
    free(o->values);
    *size = (size_t)p->count * 4;
    *bytes = o->values = malloc(*size);
    return o->values ? read_values(p, o->values, error) : no_memory(error);
}

static glcnn_status write_file(const struct parameters *list, cJSON *header, const char *path)
{
    uint8_t *bytes = NULL;
    struct output o = {.list = list};
    glcnn_status status = make_header(list, header, &bytes, &o.header_size);
    o.header = bytes;
    if (status == GLCNN_SUCCESS)
        status = checkpoint_file_write(
            path, &(struct checkpoint_parts){list->count + 1, &o, next_part}, list->error);
    free(o.values);
    free(bytes);
    return status;
}

glcnn_status glcnn_checkpoint_save(glcnn_network *network, const char *path,
                                   const struct glcnn_checkpoint_entry *metadata, size_t count,
                                   char error[512])
{
    struct parameters list = {.error = error};
    glcnn_status status = check_arguments(network, path, error);
    if (status != GLCNN_SUCCESS)
        return status;
    cJSON *header = cJSON_CreateObject();
    cJSON *entries = header ? cJSON_AddObjectToObject(header, CHECKPOINT_METADATA) : NULL;
    status = collect(&list, network);
    if (status == GLCNN_SUCCESS)
        status = entries ? add_all_counters(entries, network, error) : no_memory(error);
    if (status == GLCNN_SUCCESS)
        status = add_entries(entries, metadata, count, error);
    if (status == GLCNN_SUCCESS)
        status = write_file(&list, header, path);
    cJSON_Delete(header);
    release(&list);
    return status;
}

/* ---- Loading ---- */

struct input {
    struct checkpoint_file file;
    struct parameters list;
    glcnn_network *network;
    const char *path;
    char *error;
    uint8_t *data;
};

#define MALFORMED(in, ...)                                                                         \
    checkpoint_fail((in)->error, GLCNN_MALFORMED_DATA, "%.200s: " __VA_ARGS__)

static void print_shape(char text[128], const uint64_t *shape, uint32_t rank)
{
    size_t length = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < rank && length < 100; i++)
        length += (size_t)snprintf(text + length, 128 - length, "%s%llu", i ? " x " : "",
                                   (unsigned long long)shape[i]);
}

/* The length that is not known yet is the file's; the kernel's other vectors then have it too. */
static void learn_length(struct input *in, const struct parameter *p)
{
    uint64_t count = p->tensor->rank == 1 ? p->tensor->shape[0] : 0;
    for (size_t i = 0; i < in->list.count && count; i++) {
        struct parameter *other = &in->list.at[i];
        if (other->kernel != p->kernel || other->count)
            continue;
        other->count = count;
        find_shape(other);
    }
}

static glcnn_status match(struct input *in, struct parameter *p)
{
    struct checkpoint_tensor *t = checkpoint_file_find(&in->file, p->name);
    if (!t)
        return MALFORMED(in, "has no tensor \"%.100s\", which the network needs", in->path,
                         p->name);
    p->tensor = t;
    t->is_used = true;
    if (!p->count)
        learn_length(in, p);
    if (p->count && p->rank == t->rank &&
        memcmp(p->shape, t->shape, p->rank * sizeof *p->shape) == 0)
        return GLCNN_SUCCESS;
    char found[128], expected[128];
    print_shape(found, t->shape, t->rank);
    print_shape(expected, p->shape, p->count ? p->rank : 0);
    return MALFORMED(in, "tensor \"%.100s\" is %s; the network's is %s", in->path, p->name, found,
                     p->count ? expected : "of one dimension");
}

/* Whether the tensor is the optimizer's state for a vector of a kernel that is not trained. */
static bool is_spare_moment(const struct input *in, const struct checkpoint_tensor *t)
{
    for (size_t i = 0; i < in->list.count; i++) {
        const struct parameter *p = &in->list.at[i];
        size_t length = strlen(p->name);
        if (p->is_moment || glcnn_kernel_optimizer(p->kernel) ||
            strncmp(t->name, p->name, length) != 0 ||
            strncmp(t->name + length, ".optimizer.", 11) != 0)
            continue;
        for (unsigned m = 0; m < MOMENTS; m++)
            if (strcmp(t->name + length + 11, moments[m]) == 0)
                return true;
    }
    return false;
}

static bool read_number(const char *text, uint32_t *number)
{
    size_t digits = strspn(text, "0123456789");
    unsigned long long value = strtoull(text, NULL, 10);
    *number = (uint32_t)value;
    return digits > 0 && digits <= 10 && text[digits] == 0 && value <= UINT32_MAX;
}

/* The counter in the file, if kernel and file have it. False: there is one, and it is no number. */
static bool find_counter(const struct input *in, const struct counter *counter,
                         glcnn_filter_node *node, bool *has, uint32_t *value)
{
    glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
    const char *text = entry_of(in->file.metadata, counter->name, glcnn_filter_node_label(node));
    *has = text && !glcnn_filter_node_forward(node, NULL) && counter->get(kernel, value);
    return !*has || read_number(text, value);
}

static glcnn_status check_counters(const struct input *in, glcnn_filter_node *node)
{
    const char *label = glcnn_filter_node_label(node);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        bool has;
        uint32_t value;
        if (!find_counter(in, &counters[i], node, &has, &value))
            return MALFORMED(in, "metadata \"%s.%.100s\" is no whole number below 2^32", in->path,
                             counters[i].name, label);
    }
    return GLCNN_SUCCESS;
}

static glcnn_status check_optimizer(const struct input *in, glcnn_filter_node *node)
{
    const char *label = glcnn_filter_node_label(node);
    glcnn_kernel *optimizer = glcnn_kernel_optimizer(glcnn_filter_node_kernel(node));
    const char *found = optimizer ? entry_of(in->file.metadata, "optimizer", label) : NULL;
    if (found && strcmp(found, glcnn_kernel_name(optimizer)) != 0)
        return MALFORMED(in, "\"%.100s\" was trained with %.60s; here it is trained with %s",
                         in->path, label, found, glcnn_kernel_name(optimizer));
    if (found && !entry_of(in->file.metadata, "time_step", label))
        return MALFORMED(in, "has no metadata \"time_step.%.100s\"", in->path, label);
    return check_counters(in, node);
}

/* A tensor that is no parameter, and one whose elements are not float32: after this each begins at
 * a multiple of 4. */
static glcnn_status check_tensor(const struct input *in, const struct checkpoint_tensor *t)
{
    if (!t->is_used && !is_spare_moment(in, t))
        return MALFORMED(in, "has the tensor \"%.100s\", which the network does not know", in->path,
                         t->name);
    if (strcmp(t->dtype, "F32") != 0)
        return MALFORMED(in, "tensor \"%.100s\" is of dtype %.20s; expected F32", in->path, t->name,
                         t->dtype);
    return GLCNN_SUCCESS;
}

static glcnn_status check(struct input *in)
{
    glcnn_filter_node *node;
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; status == GLCNN_SUCCESS && (node = glcnn_network_filter(in->network, i));
         i++)
        status = check_optimizer(in, node);
    for (size_t i = 0; i < in->list.count && status == GLCNN_SUCCESS; i++)
        status = match(in, &in->list.at[i]);
    for (size_t i = 0; i < in->file.count && status == GLCNN_SUCCESS; i++)
        status = check_tensor(in, &in->file.tensors[i]);
    return status;
}

static glcnn_status fail_write(const struct input *in, const struct parameter *p,
                               glcnn_status status)
{
    return status == GLCNN_SUCCESS
               ? status
               : checkpoint_fail(in->error, status, "%.200s cannot be written to the device: %s",
                                 p->name, glcnn_status_text(status));
}

/* Makes the vector, neutral, so that writing values takes no memory. */
static glcnn_status make_vector(const struct input *in, const struct parameter *p)
{
    float *values = malloc((size_t)p->count * 4);
    if (!values)
        return no_memory(in->error);
    for (size_t i = 0; i < (size_t)p->count; i++)
        values[i] = p->neutral;
    glcnn_status status = glcnn_kernel_set_vector(p->kernel, p->vector, values, (size_t)p->count);
    free(values);
    return fail_write(in, p, status);
}

static glcnn_status write_values(const struct input *in, const struct parameter *p)
{
    glcnn_buffer *buffer = p->is_moment ? p->buffer : glcnn_kernel_vector(p->kernel, p->vector);
    return fail_write(
        in, p, glcnn_buffer_write(buffer, 0, (size_t)p->count * 4, in->data + p->tensor->begin));
}

static void set_counters(const struct input *in, glcnn_filter_node *node)
{
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        bool has;
        uint32_t value;
        if (find_counter(in, &counters[i], node, &has, &value) && has)
            counters[i].set(glcnn_filter_node_kernel(node), value);
    }
}

static glcnn_status apply(const struct input *in)
{
    glcnn_status status = GLCNN_SUCCESS;
    glcnn_filter_node *node;
    for (size_t i = 0; i < in->list.count && status == GLCNN_SUCCESS; i++)
        if (!in->list.at[i].buffer)
            status = make_vector(in, &in->list.at[i]);
    for (size_t i = 0; i < in->list.count && status == GLCNN_SUCCESS; i++)
        status = write_values(in, &in->list.at[i]);
    for (size_t i = 0; status == GLCNN_SUCCESS && (node = glcnn_network_filter(in->network, i));
         i++)
        set_counters(in, node);
    return status;
}

static glcnn_status copy_metadata(const struct checkpoint_file *file,
                                  struct glcnn_checkpoint_metadata *metadata, char *error)
{
    const cJSON *item;
    size_t capacity = (size_t)cJSON_GetArraySize(file->metadata);
    metadata->entries = calloc(capacity + 1, sizeof *metadata->entries);
    if (!metadata->entries)
        return no_memory(error);
    for (item = file->metadata ? file->metadata->child : NULL; item; item = item->next) {
        struct glcnn_checkpoint_entry *entry = &metadata->entries[metadata->count++];
        entry->name = strdup(item->string);
        entry->text = strdup(item->valuestring);
        if (!entry->name || !entry->text) {
            glcnn_checkpoint_free_metadata(metadata);
            return no_memory(error);
        }
    }
    return GLCNN_SUCCESS;
}

static glcnn_status prepare(struct input *in, struct glcnn_checkpoint_metadata *metadata)
{
    in->list = (struct parameters){.file = &in->file, .error = in->error};
    glcnn_status status = collect(&in->list, in->network);
    if (status == GLCNN_SUCCESS)
        status = check(in);
    if (status == GLCNN_SUCCESS)
        status = checkpoint_file_read(&in->file, in->path, &in->data, in->error);
    if (status == GLCNN_SUCCESS)
        swap_to_little_endian(in->data, in->file.data_size / 4);
    if (status == GLCNN_SUCCESS && metadata)
        status = copy_metadata(&in->file, metadata, in->error);
    return status;
}

glcnn_status glcnn_checkpoint_load(glcnn_network *network, const char *path,
                                   struct glcnn_checkpoint_metadata *metadata, char error[512])
{
    struct input in = {.network = network, .path = path, .error = error};
    if (metadata)
        *metadata = (struct glcnn_checkpoint_metadata){0};
    glcnn_status status = check_arguments(network, path, error);
    if (status == GLCNN_SUCCESS)
        status = checkpoint_file_open(path, &in.file, error);
    if (status != GLCNN_SUCCESS)
        return status;
    status = prepare(&in, metadata);
    if (status == GLCNN_SUCCESS)
        status = apply(&in);
    if (status != GLCNN_SUCCESS)
        glcnn_checkpoint_free_metadata(metadata);
    free(in.data);
    release(&in.list);
    checkpoint_file_close(&in.file);
    return status;
}

/* ---- Metadata ---- */

glcnn_status glcnn_checkpoint_read_metadata(const char *path,
                                            struct glcnn_checkpoint_metadata *metadata,
                                            char error[512])
{
    struct checkpoint_file file;
    if (error)
        error[0] = 0;
    if (metadata)
        *metadata = (struct glcnn_checkpoint_metadata){0};
    if (!path || !metadata)
        return checkpoint_fail(error, GLCNN_INVALID_ARGUMENT, "checkpoint: %s is NULL",
                               path ? "metadata" : "path");
    glcnn_status status = checkpoint_file_open(path, &file, error);
    if (status == GLCNN_SUCCESS)
        status = copy_metadata(&file, metadata, error);
    checkpoint_file_close(&file);
    return status;
}

const char *glcnn_checkpoint_text(const struct glcnn_checkpoint_metadata *metadata,
                                  const char *name)
{
    for (size_t i = 0; metadata && name && i < metadata->count; i++)
        if (strcmp(metadata->entries[i].name, name) == 0)
            return metadata->entries[i].text;
    return NULL;
}

void glcnn_checkpoint_free_metadata(struct glcnn_checkpoint_metadata *metadata)
{
    if (!metadata)
        return;
    for (size_t i = 0; i < metadata->count; i++) {
        free((char *)(uintptr_t)metadata->entries[i].name);
        free((char *)(uintptr_t)metadata->entries[i].text);
    }
    free(metadata->entries);
    *metadata = (struct glcnn_checkpoint_metadata){0};
}
