/* Data of initialisers that lie in files beside the model's. */
#include "onnx/external.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/descriptors.h"

static const char *entry(const Onnx__TensorProto *t, const char *key)
{
    for (size_t i = 0; i < t->n_external_data; i++) {
        const Onnx__StringStringEntryProto *e = t->external_data[i];
        if (e->key && e->value && strcmp(e->key, key) == 0)
            return e->value;
    }
    return NULL;
}

/* A path within the folder: neither absolute, nor with a step up. */
static bool is_inside(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == 0))
            return false;
    return path[0] && path[0] != '/';
}

static uint64_t number(const char *text)
{
    return text ? strtoull(text, NULL, 10) : 0;
}

/* A part of a file; `what` is the file and its tensor, for sentences. */
static uint8_t *read_part(struct reader *reader, FILE *file, const char *what, uint64_t offset,
                          uint64_t length)
{
    struct stat status;
    uint64_t all =
        fstat(fileno(file), &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
    if (offset > all || length > all - offset) {
        onnx_fail(reader, GLCNN_MALFORMED_DATA,
                  "%s: the file has %" PRIu64 " bytes; the tensor is said to have %" PRIu64
                  " from byte %" PRIu64 " on",
                  what, all, length, offset);
        return NULL;
    }
    uint8_t *bytes = malloc((size_t)length + 1);
    if (!bytes) {
        onnx_no_memory(reader);
        return NULL;
    }
    if (fseeko(file, (off_t)offset, SEEK_SET) == 0 &&
        fread(bytes, 1, (size_t)length, file) == length)
        return bytes;
    onnx_fail(reader, GLCNN_IO_ERROR, "%s: it cannot be read: %s", what, strerror(errno));
    free(bytes);
    return NULL;
}

static uint8_t *read_external(struct reader *reader, const Onnx__TensorProto *tensor, size_t *size)
{
    char path[4096], what[320];
    const char *location = entry(tensor, "location"), *length = entry(tensor, "length");
    const char *name = tensor->name ? tensor->name : "";
    if (!reader->folder || !location || !length || !is_inside(location)) {
        onnx_fail(reader, GLCNN_UNSUPPORTED,
                  "tensor \"%.80s\" has its data in another file, \"%.80s\"; such data are read "
                  "with the model's file, from its folder, where their length is told",
                  name, location ? location : "");
        return NULL;
    }
    snprintf(path, sizeof path, "%s/%s", reader->folder, location);
    snprintf(what, sizeof what, "%.200s, the data of tensor \"%.80s\"", path, name);
    FILE *file = stream_above_standard(fopen(path, "rb"), "rb");
    if (!file) {
        onnx_fail(reader, GLCNN_IO_ERROR, "%s: %s", what, strerror(errno));
        return NULL;
    }
    *size = (size_t)number(length);
    uint8_t *bytes = read_part(reader, file, what, number(entry(tensor, "offset")), number(length));
    fclose(file);
    return bytes;
}

bool external_take(struct reader *reader, Onnx__TensorProto *tensor)
{
    size_t size;
    uint8_t *bytes = read_external(reader, tensor, &size);
    if (!bytes)
        return false;
    for (size_t i = 0; i < tensor->n_external_data; i++)
        onnx__string_string_entry_proto__free_unpacked(tensor->external_data[i], NULL);
    free(tensor->raw_data.data);
    tensor->n_external_data = 0;
    tensor->has_data_location = false;
    tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__DEFAULT;
    tensor->has_raw_data = true;
    tensor->raw_data = (ProtobufCBinaryData){size, bytes};
    return true;
}
