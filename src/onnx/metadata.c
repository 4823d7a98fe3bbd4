/* Metadata of a model: what its file says of itself beside the graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/onnx.h"

void glcnn_onnx_metadata_destroy(struct glcnn_onnx_entry *entries, size_t count)
{
    for (size_t i = 0; i < count && entries; i++) {
        free((void *)(uintptr_t)entries[i].key);
        free((void *)(uintptr_t)entries[i].value);
    }
    free(entries);
}

static bool copy_entries(const Onnx__ModelProto *model, struct glcnn_onnx_entry *entries)
{
    bool good = true;
    for (size_t i = 0; i < model->n_metadata_props && good; i++) {
        entries[i] = (struct glcnn_onnx_entry){strdup(text_of(model->metadata_props[i]->key)),
                                               strdup(text_of(model->metadata_props[i]->value))};
        good = entries[i].key && entries[i].value;
    }
    return good;
}

static bool take_entries(struct reader *r, const Onnx__ModelProto *model,
                         struct glcnn_onnx_entry **entries, size_t *count)
{
    struct glcnn_onnx_entry *made = calloc(model->n_metadata_props + 1, sizeof *made);
    if (!made || !copy_entries(model, made)) {
        glcnn_onnx_metadata_destroy(made, model->n_metadata_props);
        return onnx_no_memory(r);
    }
    *entries = made;
    *count = model->n_metadata_props;
    return true;
}

glcnn_status glcnn_onnx_read_metadata(const uint8_t *bytes, size_t size,
                                      struct glcnn_onnx_entry **entries, size_t *count,
                                      char error[GLCNN_ERROR_LENGTH])
{
    struct reader r = {.folder = NULL};
    *entries = NULL;
    *count = 0;
    Onnx__ModelProto *model =
        nesting_check(&r, bytes, size) ? onnx__model_proto__unpack(NULL, size, bytes) : NULL;
    if (model)
        take_entries(&r, model, entries, count);
    else if (r.status == GLCNN_SUCCESS)
        onnx_fail(&r, GLCNN_MALFORMED_DATA, "these are no bytes of an ONNX model");
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
    if (error && r.status != GLCNN_SUCCESS)
        memcpy(error, r.text, sizeof r.text);
    return r.status;
}

glcnn_status glcnn_onnx_load_metadata(const char *path, struct glcnn_onnx_entry **entries,
                                      size_t *count, char error[GLCNN_ERROR_LENGTH])
{
    char reason[GLCNN_ERROR_LENGTH];
    void *bytes;
    size_t size;
    *entries = NULL;
    *count = 0;
    glcnn_status status = onnx_load_bytes(path, &bytes, &size, reason);
    if (status == GLCNN_SUCCESS) {
        char why[GLCNN_ERROR_LENGTH];
        status = glcnn_onnx_read_metadata(bytes, size, entries, count, why);
        snprintf(reason, sizeof reason, "%.200s: %.300s", path, why);
        free(bytes);
    }
    if (status != GLCNN_SUCCESS && error)
        memcpy(error, reason, sizeof reason);
    return status;
}
