/* Loading: file and network are compared, everything is read and every vector made; only then are
 * values written. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint_parameters.h"

struct input {
    struct checkpoint_file file;
    struct parameters list;
    glcnn_network *network;
    const char *path;
    char *error;
    uint8_t *data;
    bool resumes; /* the file has state of an optimizer that the network has */
};

#define MALFORMED(in, ...) fail_with((in)->error, GLCNN_MALFORMED_DATA, "%.200s: " __VA_ARGS__)

/* The length that is not known yet is the file's; the kernel's other vectors then have it too. */
static void learn_length(struct input *in, const struct parameter *p)
{
    uint64_t count = p->tensor->rank == 1 ? p->tensor->shape[0] : 0;
    for (size_t i = 0; i < in->list.count && count; i++) {
        struct parameter *other = &in->list.at[i];
        if (other->kernel != p->kernel || other->count)
            continue;
        other->count = count;
        parameter_find_shape(other);
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
    char found[SHAPE_TEXT], expected[SHAPE_TEXT];
    checkpoint_print_shape(found, t->shape, t->rank);
    checkpoint_print_shape(expected, p->shape, p->count ? p->rank : 0);
    return MALFORMED(in, "tensor \"%.100s\" is %s; the network's is %s", in->path, p->name, found,
                     p->count ? expected : "of one dimension");
}

/* True if the tensor is the optimizer's state for a vector of a kernel that is not trained. */
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
            if (strcmp(t->name + length + 11, checkpoint_moments[m]) == 0)
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
static bool find_counter(const struct input *in, const struct checkpoint_counter *counter,
                         glcnn_filter_node *node, bool *has, uint32_t *value)
{
    glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
    const char *text =
        checkpoint_entry_of(in->file.metadata, counter->name, glcnn_filter_node_label(node));
    *has = text && checkpoint_has(node) && counter->get(kernel, value);
    return !*has || read_number(text, value);
}

/* Training that goes on needs them, all of a node whose optimizer's state is read; a mask of
 * dropout would come again. */
static glcnn_status check_counters(const struct input *in, glcnn_filter_node *node, bool goes_on)
{
    const char *label = glcnn_filter_node_label(node);
    for (size_t i = 0; i < CHECKPOINT_COUNTERS; i++) {
        bool has;
        uint32_t value;
        if (!find_counter(in, &checkpoint_counters[i], node, &has, &value))
            return MALFORMED(
                in,
                "\"%s.%.100s\" in its metadata is \"%.40s\"; expected a whole number in "
                "0 .. %u",
                in->path, checkpoint_counters[i].name, label,
                checkpoint_entry_of(in->file.metadata, checkpoint_counters[i].name, label),
                UINT32_MAX);
        if (goes_on && !has && checkpoint_has(node) &&
            checkpoint_counters[i].get(glcnn_filter_node_kernel(node), &value))
            return MALFORMED(in, "has no metadata \"%s.%.100s\", which training goes on from",
                             in->path, checkpoint_counters[i].name, label);
    }
    return GLCNN_SUCCESS;
}

/* Name of the optimizer whose state for the node's kernel is read; NULL: none. */
static const char *optimizer_read(const struct input *in, glcnn_filter_node *node)
{
    return glcnn_kernel_optimizer(glcnn_filter_node_kernel(node))
               ? checkpoint_entry_of(in->file.metadata, "optimizer", glcnn_filter_node_label(node))
               : NULL;
}

static bool resumes(const struct input *in)
{
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(in->network, i)); i++)
        if (optimizer_read(in, node))
            return true;
    return false;
}

static glcnn_status check_optimizer(const struct input *in, glcnn_filter_node *node)
{
    glcnn_kernel *optimizer = glcnn_kernel_optimizer(glcnn_filter_node_kernel(node));
    const char *found = optimizer_read(in, node);
    if (found && strcmp(found, glcnn_kernel_name(optimizer)) != 0)
        return MALFORMED(in, "\"%.100s\" was trained with %.60s; here it is trained with %s",
                         in->path, glcnn_filter_node_label(node), found,
                         glcnn_kernel_name(optimizer));
    return check_counters(in, node, optimizer ? found != NULL : in->resumes);
}

/* A tensor that is no parameter, and one whose elements are not float32: after this each begins at
 * a multiple of 4. Bytes are others' to read; they stand behind, where they move nothing. */
static glcnn_status check_tensor(const struct input *in, const struct checkpoint_tensor *t)
{
    if (!t->is_used && checkpoint_tensor_is_bytes(t))
        return GLCNN_SUCCESS;
    if (t->begin % 4 != 0)
        return MALFORMED(in,
                         "tensor \"%.100s\" begins at byte %" PRIu64
                         ", no multiple of 4: bytes stand behind numbers",
                         in->path, t->name, t->begin);
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
    in->resumes = resumes(in);
    for (size_t i = 0; status == GLCNN_SUCCESS && (node = glcnn_network_filter(in->network, i));
         i++)
        status = check_optimizer(in, node);
    for (size_t i = 0; i < in->list.count && status == GLCNN_SUCCESS; i++)
        status = match(in, &in->list.at[i]);
    for (size_t i = 0; i < in->file.count && status == GLCNN_SUCCESS; i++)
        status = check_tensor(in, &in->file.tensors[i]);
    return status;
}

static void set_counters(const struct input *in, glcnn_filter_node *node)
{
    for (size_t i = 0; i < CHECKPOINT_COUNTERS; i++) {
        bool has;
        uint32_t value;
        if (find_counter(in, &checkpoint_counters[i], node, &has, &value) && has)
            checkpoint_counters[i].set(glcnn_filter_node_kernel(node), value);
    }
}

static glcnn_status apply(const struct input *in)
{
    glcnn_status status = GLCNN_SUCCESS;
    glcnn_filter_node *node;
    for (size_t i = 0; i < in->list.count && status == GLCNN_SUCCESS; i++)
        status = parameter_make(&in->list.at[i], in->error);
    for (size_t i = 0; i < in->list.count && status == GLCNN_SUCCESS; i++)
        status =
            parameter_write(&in->list.at[i], in->data + in->list.at[i].tensor->begin, in->error);
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
        return checkpoint_no_memory(error);
    for (item = file->metadata ? file->metadata->child : NULL; item; item = item->next) {
        struct glcnn_checkpoint_entry *entry = &metadata->entries[metadata->count++];
        entry->name = strdup(item->string);
        entry->text = strdup(item->valuestring);
        if (!entry->name || !entry->text) {
            glcnn_checkpoint_metadata_destroy(metadata);
            return checkpoint_no_memory(error);
        }
    }
    return GLCNN_SUCCESS;
}

/* A network of NaN would give an answer for every image. */
static glcnn_status check_values(const struct input *in)
{
    for (size_t i = 0; i < in->list.count; i++) {
        const struct parameter *p = &in->list.at[i];
        const float *values = (const float *)(const void *)(in->data + p->tensor->begin);
        const char *expected;
        uint64_t first = parameter_wrong_value(p, values, &expected);
        if (first < p->count)
            return MALFORMED(in, "value %" PRIu64 " of tensor \"%.100s\" is %g; %s", in->path,
                             first, p->name, (double)values[first], expected);
    }
    return GLCNN_SUCCESS;
}

static glcnn_status prepare(struct input *in, struct glcnn_checkpoint_metadata *metadata)
{
    in->list = (struct parameters){.file = &in->file, .error = in->error};
    glcnn_status status = parameters_collect(&in->list, in->network);
    if (status == GLCNN_SUCCESS)
        status = check(in);
    if (status == GLCNN_SUCCESS)
        status = checkpoint_file_read(&in->file, in->path, &in->data, in->error);
    if (status == GLCNN_SUCCESS)
        checkpoint_swap_to_little_endian(in->data, in->file.data_size / 4);
    if (status == GLCNN_SUCCESS)
        status = check_values(in);
    if (status == GLCNN_SUCCESS && metadata)
        status = copy_metadata(&in->file, metadata, in->error);
    return status;
}

static glcnn_status load(glcnn_network *network, const char *path,
                         const struct glcnn_file_range *range,
                         struct glcnn_checkpoint_metadata *metadata, char *error)
{
    struct input in = {.network = network, .path = path, .error = error};
    if (metadata)
        *metadata = (struct glcnn_checkpoint_metadata){0};
    glcnn_status status = checkpoint_check_arguments(network, path, error);
    if (status == GLCNN_SUCCESS)
        status = checkpoint_file_open(path, range, &in.file, error);
    if (status != GLCNN_SUCCESS)
        return status;
    status = prepare(&in, metadata);
    if (status == GLCNN_SUCCESS)
        status = apply(&in);
    if (status != GLCNN_SUCCESS)
        glcnn_checkpoint_metadata_destroy(metadata);
    free(in.data);
    parameters_release(&in.list);
    checkpoint_file_close(&in.file);
    return status;
}

glcnn_status glcnn_checkpoint_load(glcnn_network *network, const char *path,
                                   struct glcnn_checkpoint_metadata *metadata,
                                   char error[GLCNN_ERROR_LENGTH])
{
    return load(network, path, NULL, metadata, error);
}

glcnn_status glcnn_checkpoint_load_from_fd(glcnn_network *network,
                                           const struct glcnn_file_range *range,
                                           struct glcnn_checkpoint_metadata *metadata,
                                           char error[GLCNN_ERROR_LENGTH])
{
    char name[CHECKPOINT_RANGE_NAME];
    return load(network, checkpoint_range_name(range, name), range, metadata, error);
}

/* ---- Metadata ---- */

static glcnn_status read_metadata(const char *path, const struct glcnn_file_range *range,
                                  struct glcnn_checkpoint_metadata *metadata, char *error)
{
    struct checkpoint_file file;
    if (error)
        error[0] = 0;
    if (metadata)
        *metadata = (struct glcnn_checkpoint_metadata){0};
    if (!path || !metadata)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "checkpoint: %s is NULL",
                         path ? "metadata" : "the path or the range");
    glcnn_status status = checkpoint_file_open(path, range, &file, error);
    if (status == GLCNN_SUCCESS)
        status = copy_metadata(&file, metadata, error);
    checkpoint_file_close(&file);
    return status;
}

glcnn_status glcnn_checkpoint_read_metadata(const char *path,
                                            struct glcnn_checkpoint_metadata *metadata,
                                            char error[GLCNN_ERROR_LENGTH])
{
    return read_metadata(path, NULL, metadata, error);
}

glcnn_status glcnn_checkpoint_read_metadata_from_fd(const struct glcnn_file_range *range,
                                                    struct glcnn_checkpoint_metadata *metadata,
                                                    char error[GLCNN_ERROR_LENGTH])
{
    char name[CHECKPOINT_RANGE_NAME];
    return read_metadata(checkpoint_range_name(range, name), range, metadata, error);
}

static glcnn_status read_named(const char *path, const struct glcnn_file_range *range,
                               const char *name, uint8_t **bytes, size_t *size, char *error)
{
    struct checkpoint_file file;
    if (error)
        error[0] = 0;
    if (bytes)
        *bytes = NULL;
    if (!path || !name || !bytes || !size)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "checkpoint: path, range, name, bytes or size is NULL");
    glcnn_status status = checkpoint_file_open(path, range, &file, error);
    const struct checkpoint_tensor *t =
        status == GLCNN_SUCCESS ? checkpoint_file_find(&file, name) : NULL;
    if (t && !checkpoint_tensor_is_bytes(t))
        status = fail_with(error, GLCNN_MALFORMED_DATA,
                           "%.200s: tensor \"%.100s\" is of dtype %.20s; expected bytes, "
                           "dtype " CHECKPOINT_BYTES_DTYPE,
                           path, name, t->dtype);
    else if (t)
        status = checkpoint_file_read_tensor(&file, path, t, bytes, error);
    *size = status == GLCNN_SUCCESS && t ? (size_t)(t->end - t->begin) : 0;
    checkpoint_file_close(&file);
    return status;
}

glcnn_status glcnn_checkpoint_read_bytes(const char *path, const char *name, uint8_t **bytes,
                                         size_t *size, char error[GLCNN_ERROR_LENGTH])
{
    return read_named(path, NULL, name, bytes, size, error);
}

glcnn_status glcnn_checkpoint_read_bytes_from_fd(const struct glcnn_file_range *range,
                                                 const char *name, uint8_t **bytes, size_t *size,
                                                 char error[GLCNN_ERROR_LENGTH])
{
    char path[CHECKPOINT_RANGE_NAME];
    return read_named(checkpoint_range_name(range, path), range, name, bytes, size, error);
}

const char *glcnn_checkpoint_text(const struct glcnn_checkpoint_metadata *metadata,
                                  const char *name)
{
    for (size_t i = 0; metadata && name && i < metadata->count; i++)
        if (strcmp(metadata->entries[i].name, name) == 0)
            return metadata->entries[i].text;
    return NULL;
}

void glcnn_checkpoint_metadata_destroy(struct glcnn_checkpoint_metadata *metadata)
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
