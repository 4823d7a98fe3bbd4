/* Data of initialisers that lie in files beside the model's. */
#include "onnx/external.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glcnn/io.h>

/* Where the data of a tensor lie. */
struct place {
    const char *name, *location; /* of the tensor; of the file, as the model has it */
    uint64_t offset, length;
};

static const char *entry(const Onnx__TensorProto *t, const char *key)
{
    for (size_t i = 0; i < t->n_external_data; i++) {
        const Onnx__StringStringEntryProto *e = t->external_data[i];
        if (e->key && e->value && strcmp(e->key, key) == 0)
            return e->value;
    }
    return NULL;
}

static bool read_number(struct reader *reader, const Onnx__TensorProto *tensor, const char *key,
                        uint64_t otherwise, uint64_t *value)
{
    const char *text = entry(tensor, key);
    *value = text ? strtoull(text, NULL, 10) : otherwise;
    size_t digits = text ? strspn(text, "0123456789") : 1;
    return (digits > 0 && digits < 19 && (!text || !text[digits])) ||
           onnx_fail(reader, GLCNN_MALFORMED_DATA,
                     "tensor \"%.80s\" has its data in another file, %s \"%.40s\", which is not a "
                     "number of bytes",
                     tensor->name ? tensor->name : "", key, text);
}

static bool read_place(struct reader *reader, const Onnx__TensorProto *tensor, int64_t count,
                       size_t size, struct place *place)
{
    const uint64_t expected = (uint64_t)count * size;
    *place = (struct place){.name = tensor->name ? tensor->name : "",
                            .location = entry(tensor, "location")};
    if (!reader->folder || !place->location || !place->location[0])
        return onnx_fail(reader, GLCNN_UNSUPPORTED,
                         "tensor \"%.80s\" has its data in another file, \"%.80s\"; such data are "
                         "read with the model's file, from its folder",
                         place->name, place->location ? place->location : "");
    if (!read_number(reader, tensor, "offset", 0, &place->offset) ||
        !read_number(reader, tensor, "length", expected, &place->length))
        return false;
    return place->length == expected ||
           onnx_fail(reader, GLCNN_MALFORMED_DATA,
                     "tensor \"%.80s\" is said to have %" PRId64 " numbers, %" PRIu64
                     " bytes, but %" PRIu64 " bytes of \"%.80s\"",
                     place->name, count, expected, place->length, place->location);
}

/* ---- The file ---- */

/* Is a path, without links and dots, that of a file below the folder? */
static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    length -= length > 0 && folder[length - 1] == '/';
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* The path without links and dots, to be freed. NULL, with the message: it is not to be read. */
static char *find_file(struct reader *reader, const struct place *place)
{
    char path[4096];
    bool is_absolute = place->location[0] == '/';
    snprintf(path, sizeof path, "%s%s%s", is_absolute ? "" : reader->folder, is_absolute ? "" : "/",
             place->location);
    char *found = realpath(path, NULL), *folder = realpath(reader->folder, NULL);
    bool is_allowed =
        found && folder && (reader->options.external_links || is_below(found, folder));
    if (!found || !folder)
        onnx_fail(reader, GLCNN_IO_ERROR, "%.200s, the data of tensor \"%.80s\": %s", path,
                  place->name, strerror(errno));
    else if (!is_allowed)
        onnx_fail(reader, GLCNN_UNSUPPORTED,
                  "tensor \"%.80s\" has its data in \"%.80s\", which is %.100s, outside of the "
                  "model's folder; option external_links reads it",
                  place->name, place->location, found);
    free(folder);
    if (is_allowed)
        return found;
    free(found);
    return NULL;
}

static uint8_t *read_part(struct reader *reader, int descriptor, uint64_t all, const char *path,
                          const struct place *place)
{
    char reason[GLCNN_ERROR_LENGTH];
    if (place->offset > all || place->length > all - place->offset) {
        onnx_fail(reader, GLCNN_MALFORMED_DATA,
                  "%.200s, the data of tensor \"%.80s\": the file has %" PRIu64
                  " bytes; the tensor is said to have %" PRIu64 " from byte %" PRIu64 " on",
                  path, place->name, all, place->length, place->offset);
        return NULL;
    }
    uint8_t *bytes = malloc((size_t)place->length + 1);
    if (!bytes) {
        onnx_no_memory(reader);
        return NULL;
    }
    glcnn_status status =
        glcnn_file_read(descriptor, path, place->offset, bytes, (size_t)place->length, reason);
    if (status == GLCNN_SUCCESS)
        return bytes;
    onnx_fail(reader, status, "the data of tensor \"%.80s\": %.380s", place->name, reason);
    free(bytes);
    return NULL;
}

static uint8_t *read_file(struct reader *reader, const struct place *place)
{
    char reason[GLCNN_ERROR_LENGTH];
    int descriptor;
    uint64_t size;
    uint8_t *bytes = NULL;
    char *path = find_file(reader, place);
    if (!path)
        return NULL;
    glcnn_status status = glcnn_file_open(path, &descriptor, &size, reason);
    if (status == GLCNN_SUCCESS) {
        bytes = read_part(reader, descriptor, size, path, place);
        close(descriptor);
    } else {
        onnx_fail(reader, status, "the data of tensor \"%.80s\": %.380s", place->name, reason);
    }
    free(path);
    return bytes;
}

bool external_take(struct reader *reader, Onnx__TensorProto *tensor, int64_t count, size_t size)
{
    struct place place;
    uint8_t *bytes =
        read_place(reader, tensor, count, size, &place) ? read_file(reader, &place) : NULL;
    if (!bytes)
        return false;
    for (size_t i = 0; i < tensor->n_external_data; i++)
        onnx__string_string_entry_proto__free_unpacked(tensor->external_data[i], NULL);
    free(tensor->raw_data.data);
    tensor->n_external_data = 0;
    tensor->has_data_location = false;
    tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__DEFAULT;
    tensor->has_raw_data = true;
    tensor->raw_data = (ProtobufCBinaryData){(size_t)place.length, bytes};
    return true;
}
