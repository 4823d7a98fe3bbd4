/* Saving: the header of what the network has, then its tensors, each read from the device when it
 * is its turn. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint_parameters.h"

#include <glcnn/io.h>

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
    for (size_t i = 0; i < CHECKPOINT_COUNTERS && good; i++) {
        uint32_t value;
        char number[16];
        if (!checkpoint_counters[i].get(kernel, &value))
            continue;
        snprintf(number, sizeof number, "%u", value);
        good = add_text(object, checkpoint_counters[i].name, label, number);
    }
    return good;
}

static glcnn_status add_all_counters(cJSON *object, glcnn_network *network, char *error)
{
    glcnn_filter_node *node;
    bool good = true;
    for (size_t i = 0; good && (node = glcnn_network_filter(network, i)); i++)
        if (checkpoint_has(node))
            good = add_counters(object, node);
    return good ? GLCNN_SUCCESS : checkpoint_no_memory(error);
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
            return checkpoint_no_memory(error);
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
    return *bytes ? GLCNN_SUCCESS : checkpoint_no_memory(list->error);
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
    uint64_t first = checkpoint_first_not_finite(values, p->count);
    if (first < p->count)
        return checkpoint_fail(error, GLCNN_INVALID_STATE,
                               "%.200s is not saved: value %" PRIu64
                               " is %g; training has diverged",
                               p->name, first, (double)values[first]);
    checkpoint_swap_to_little_endian(values, p->count);
    return GLCNN_SUCCESS;
}

/* One tensor at a time: a network of the device may be larger than the memory that is left. */
static glcnn_status write_values(glcnn_file *file, const struct parameter *p, char *error)
{
    float *values = malloc((size_t)p->count * 4);
    glcnn_status status = values ? read_values(p, values, error) : checkpoint_no_memory(error);
    if (status == GLCNN_SUCCESS)
        status = glcnn_file_write(file, values, (size_t)p->count * 4, error);
    free(values);
    return status;
}

static glcnn_status write_parts(glcnn_file *file, const struct parameters *list,
                                const uint8_t *header, size_t header_size)
{
    glcnn_status status = glcnn_file_write(file, header, header_size, list->error);
    for (size_t i = 0; i < list->count && status == GLCNN_SUCCESS; i++)
        status = write_values(file, &list->at[i], list->error);
    return status;
}

static glcnn_status write_file(const struct parameters *list, cJSON *json, const char *path)
{
    uint8_t *header = NULL;
    size_t header_size = 0;
    glcnn_file *file = NULL;
    glcnn_status status = make_header(list, json, &header, &header_size);
    if (status == GLCNN_SUCCESS)
        status = glcnn_file_create(path, &file, list->error);
    if (status == GLCNN_SUCCESS)
        status = write_parts(file, list, header, header_size);
    if (status == GLCNN_SUCCESS)
        status = glcnn_file_commit(&file, list->error);
    glcnn_file_discard(&file);
    free(header);
    return status;
}

glcnn_status glcnn_checkpoint_save(glcnn_network *network, const char *path,
                                   const struct glcnn_checkpoint_entry *metadata, size_t count,
                                   char error[GLCNN_ERROR_LENGTH])
{
    struct parameters list = {.error = error};
    glcnn_status status = checkpoint_check_arguments(network, path, error);
    if (status != GLCNN_SUCCESS)
        return status;
    cJSON *header = cJSON_CreateObject();
    cJSON *entries = header ? cJSON_AddObjectToObject(header, CHECKPOINT_METADATA) : NULL;
    status = parameters_collect(&list, network);
    if (status == GLCNN_SUCCESS)
        status = entries ? add_all_counters(entries, network, error) : checkpoint_no_memory(error);
    if (status == GLCNN_SUCCESS)
        status = add_entries(entries, metadata, count, error);
    if (status == GLCNN_SUCCESS)
        status = write_file(&list, header, path);
    cJSON_Delete(header);
    parameters_release(&list);
    return status;
}
