/* Saving: the header of what the network has, then its tensors, each read from the device when it
 * is its turn. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint_digest.h"
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
        if (!name || !text || !checkpoint_is_utf8(name))
            return fail_with(error, GLCNN_INVALID_ARGUMENT,
                             "metadata %zu has no name or no text, or a name that is not "
                             "UTF-8",
                             i);
        if (!checkpoint_is_utf8(text))
            return fail_with(error, GLCNN_INVALID_ARGUMENT,
                             "metadata \"%.200s\" has a text that is not UTF-8", name);
        if (cJSON_GetObjectItemCaseSensitive(object, name))
            return fail_with(error, GLCNN_INVALID_ARGUMENT,
                             "metadata \"%.200s\" is given twice, or written by the library", name);
        if (!cJSON_AddStringToObject(object, name, text))
            return checkpoint_no_memory(error);
    }
    return GLCNN_SUCCESS;
}

/* What is written: parameters, then bytes. */
struct contents {
    struct parameters list;
    const struct glcnn_checkpoint_bytes *bytes;
    size_t bytes_count;
};

static bool add_tensor(cJSON *header, const char *name, const char *dtype, const uint64_t *shape,
                       uint32_t rank, uint64_t begin, uint64_t end)
{
    cJSON *entry = cJSON_AddObjectToObject(header, name);
    cJSON *type = entry ? cJSON_AddStringToObject(entry, "dtype", dtype) : NULL;
    cJSON *extents = type ? cJSON_AddArrayToObject(entry, "shape") : NULL;
    bool good = extents;
    for (uint32_t i = 0; i < rank && good; i++)
        good = cJSON_AddItemToArray(extents, cJSON_CreateNumber((double)shape[i]));
    cJSON *offsets = good ? cJSON_AddArrayToObject(entry, "data_offsets") : NULL;
    return offsets && cJSON_AddItemToArray(offsets, cJSON_CreateNumber((double)begin)) &&
           cJSON_AddItemToArray(offsets, cJSON_CreateNumber((double)end));
}

static bool add_tensors(cJSON *header, const struct contents *c)
{
    uint64_t at = 0, end;
    bool good = true;
    for (size_t i = 0; i < c->list.count && good; i++, at = end) {
        const struct parameter *p = &c->list.at[i];
        end = at + p->count * 4;
        good = add_tensor(header, p->name, "F32", p->shape, p->rank, at, end);
    }
    for (size_t i = 0; i < c->bytes_count && good; i++, at = end) {
        const uint64_t size = c->bytes[i].size;
        end = at + size;
        good = add_tensor(header, c->bytes[i].name, CHECKPOINT_BYTES_DTYPE, &size, 1, at, end);
    }
    const uint64_t digest_size = CHECKPOINT_DIGEST_SIZE;
    return good && add_tensor(header, CHECKPOINT_DIGEST, CHECKPOINT_BYTES_DTYPE, &digest_size, 1,
                              at, at + digest_size);
}

static glcnn_status check_bytes(const struct contents *c)
{
    for (size_t i = 0; i < c->bytes_count; i++) {
        const struct glcnn_checkpoint_bytes *b = &c->bytes[i];
        bool is_named = b->name &&
                        strncmp(b->name, CHECKPOINT_BYTES, strlen(CHECKPOINT_BYTES)) == 0 &&
                        checkpoint_is_utf8(b->name);
        if (!is_named || !b->bytes || b->size == 0)
            return fail_with(c->list.error, GLCNN_INVALID_ARGUMENT,
                             "bytes %zu are none, or have no name that begins with "
                             "\"" CHECKPOINT_BYTES "\"",
                             i);
        bool repeats = strcmp(b->name, CHECKPOINT_DIGEST) == 0;
        for (size_t k = 0; k < i; k++)
            repeats = repeats || strcmp(c->bytes[k].name, b->name) == 0;
        for (size_t k = 0; k < c->list.count; k++)
            repeats = repeats || strcmp(c->list.at[k].name, b->name) == 0;
        if (repeats)
            return fail_with(c->list.error, GLCNN_INVALID_ARGUMENT,
                             "bytes \"%.200s\" are given twice, or a parameter or the digest "
                             "has the name",
                             b->name);
    }
    return GLCNN_SUCCESS;
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

static glcnn_status make_header(const struct contents *c, cJSON *header, uint8_t **bytes,
                                size_t *size)
{
    char *json = add_tensors(header, c) ? cJSON_PrintUnformatted(header) : NULL;
    bool fits = json && strlen(json) <= CHECKPOINT_MAX_HEADER - 8;
    *bytes = fits ? frame_header(json, size) : NULL;
    cJSON_free(json);
    if (json && !fits)
        return fail_with(c->list.error, GLCNN_INVALID_ARGUMENT,
                         "the header would have more than %u bytes: give fewer metadata",
                         CHECKPOINT_MAX_HEADER);
    return *bytes ? GLCNN_SUCCESS : checkpoint_no_memory(c->list.error);
}

static glcnn_status read_values(const struct parameter *p, float *values, char *error)
{
    size_t size = (size_t)p->count * 4;
    for (uint64_t i = 0; i < p->count && !p->buffer; i++)
        values[i] = p->neutral;
    glcnn_status status = p->buffer ? glcnn_buffer_read(p->buffer, 0, size, values) : GLCNN_SUCCESS;
    if (status != GLCNN_SUCCESS)
        return fail_with(error, status, "%.200s cannot be read from the device: %s", p->name,
                         glcnn_device_error(glcnn_kernel_device(p->kernel)));
    const char *expected;
    uint64_t first = parameter_wrong_value(p, values, &expected);
    if (first < p->count)
        return fail_with(error, GLCNN_INVALID_STATE,
                         "%.200s is not saved: value %" PRIu64 " is %g, %s; training has diverged",
                         p->name, first, (double)values[first], expected);
    checkpoint_swap_to_little_endian(values, p->count);
    return GLCNN_SUCCESS;
}

/* A file, or NULL for a trial, and the digest of what it has. */
struct output {
    glcnn_file *file;
    uint64_t digest;
};

static glcnn_status put(struct output *out, const void *bytes, size_t size, char *error)
{
    out->digest = checkpoint_digest_add(out->digest, bytes, size);
    return out->file ? glcnn_file_write(out->file, bytes, size, error) : GLCNN_SUCCESS;
}

/* One tensor at a time: a network of the device may be larger than the memory that is left. */
static glcnn_status write_values(struct output *out, const struct parameter *p, char *error)
{
    float *values = malloc((size_t)p->count * 4);
    glcnn_status status = values ? read_values(p, values, error) : checkpoint_no_memory(error);
    if (status == GLCNN_SUCCESS)
        status = put(out, values, (size_t)p->count * 4, error);
    free(values);
    return status;
}

static glcnn_status write_parts(glcnn_file *file, const struct contents *c, const uint8_t *header,
                                size_t header_size)
{
    const struct parameters *list = &c->list;
    struct output out = {.file = file};
    uint8_t digest[CHECKPOINT_DIGEST_SIZE];
    glcnn_status status = put(&out, header, header_size, list->error);
    for (size_t i = 0; i < list->count && status == GLCNN_SUCCESS; i++)
        status = write_values(&out, &list->at[i], list->error);
    for (size_t i = 0; i < c->bytes_count && status == GLCNN_SUCCESS; i++)
        status = put(&out, c->bytes[i].bytes, c->bytes[i].size, list->error);
    checkpoint_digest_write(out.digest, digest);
    return status == GLCNN_SUCCESS ? put(&out, digest, sizeof digest, list->error) : status;
}

/* Where it is written. */
struct place {
    const char *path;
    int fd;       /* where there is no path */
    bool is_open; /* the descriptor counts */
    bool keeps;   /* the file takes its place */
};

/* What is open is lost once it is begun: all values are looked at before. */
static glcnn_status begin_file(const struct contents *c, const uint8_t *header, size_t header_size,
                               const struct place *place, glcnn_file **file)
{
    if (!place->is_open)
        return glcnn_file_create(place->path, file, c->list.error);
    glcnn_status status = write_parts(NULL, c, header, header_size);
    return status == GLCNN_SUCCESS ? glcnn_file_create_from_fd(place->fd, file, c->list.error)
                                   : status;
}

/* Some disks say that they are full when they are to have the bytes, and no sooner. */
static glcnn_status write_file(const struct contents *c, cJSON *json, const struct place *place)
{
    uint8_t *header = NULL;
    size_t header_size = 0;
    glcnn_file *file = NULL;
    glcnn_status status = make_header(c, json, &header, &header_size);
    if (status == GLCNN_SUCCESS)
        status = begin_file(c, header, header_size, place, &file);
    if (status == GLCNN_SUCCESS)
        status = write_parts(file, c, header, header_size);
    if (status == GLCNN_SUCCESS)
        status = glcnn_file_sync(file, c->list.error);
    if (status == GLCNN_SUCCESS && place->keeps)
        status = glcnn_file_commit(&file, c->list.error);
    glcnn_file_discard(&file);
    free(header);
    return status;
}

static glcnn_status save(glcnn_network *network, const struct place *place,
                         const struct glcnn_checkpoint_entry *metadata, size_t count,
                         const struct glcnn_checkpoint_bytes *bytes, size_t bytes_count,
                         char *error)
{
    struct contents c = {.list = {.error = error}, .bytes = bytes, .bytes_count = bytes_count};
    glcnn_status status =
        checkpoint_check_arguments(network, place->is_open ? "" : place->path, error);
    if (status != GLCNN_SUCCESS)
        return status;
    cJSON *header = cJSON_CreateObject();
    cJSON *entries = header ? cJSON_AddObjectToObject(header, CHECKPOINT_METADATA) : NULL;
    status = parameters_collect(&c.list, network);
    if (status == GLCNN_SUCCESS)
        status = entries ? add_all_counters(entries, network, error) : checkpoint_no_memory(error);
    if (status == GLCNN_SUCCESS)
        status = add_entries(entries, metadata, count, error);
    if (status == GLCNN_SUCCESS)
        status = check_bytes(&c);
    if (status == GLCNN_SUCCESS)
        status = write_file(&c, header, place);
    cJSON_Delete(header);
    parameters_release(&c.list);
    return status;
}

glcnn_status glcnn_checkpoint_save_with_bytes(glcnn_network *network, const char *path,
                                              const struct glcnn_checkpoint_entry *metadata,
                                              size_t count,
                                              const struct glcnn_checkpoint_bytes *bytes,
                                              size_t bytes_count, char error[GLCNN_ERROR_LENGTH])
{
    const struct place place = {.path = path, .keeps = true};
    return save(network, &place, metadata, count, bytes, bytes_count, error);
}

glcnn_status glcnn_checkpoint_try_save(glcnn_network *network, const char *path,
                                       const struct glcnn_checkpoint_entry *metadata, size_t count,
                                       const struct glcnn_checkpoint_bytes *bytes,
                                       size_t bytes_count, char error[GLCNN_ERROR_LENGTH])
{
    const struct place place = {.path = path};
    return save(network, &place, metadata, count, bytes, bytes_count, error);
}

glcnn_status glcnn_checkpoint_save(glcnn_network *network, const char *path,
                                   const struct glcnn_checkpoint_entry *metadata, size_t count,
                                   char error[GLCNN_ERROR_LENGTH])
{
    const struct place place = {.path = path, .keeps = true};
    return save(network, &place, metadata, count, NULL, 0, error);
}

glcnn_status glcnn_checkpoint_save_to_fd(glcnn_network *network, int fd,
                                         const struct glcnn_checkpoint_entry *metadata,
                                         size_t count, const struct glcnn_checkpoint_bytes *bytes,
                                         size_t bytes_count, char error[GLCNN_ERROR_LENGTH])
{
    const struct place place = {.fd = fd, .is_open = true, .keeps = true};
    return save(network, &place, metadata, count, bytes, bytes_count, error);
}
