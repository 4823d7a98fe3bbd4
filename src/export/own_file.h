/* Files that were exported here, read again. */
#ifndef GLCNN_EXPORT_OWN_FILE_H
#define GLCNN_EXPORT_OWN_FILE_H

#include <glcnn/onnx.h>

#include "task/saved.h"

/* Keys of a file's metadata beside those of model files (include/model_files.md). */
#define OWN_INPUT   "model.input"   /* value that the network begins with */
#define OWN_OUTPUTS "model.outputs" /* those at which it ends: a JSON list; none: all outputs */
#define OWN_UNITS                                                                                  \
    "model.units" /* of regress: what scores are multiplied by, then what is added: a list */
#define OWN_RECORD                                                                                 \
    "model.record" /* "true": the file of an imported model, with its own operators */

/* What a file says of itself. All zero: it is not one of ours. */
struct own_file {
    bool is_own, has_record;
    struct saved saved; /* names, form, normalisation */
    char *input;        /* for glcnn_onnx_options */
    char **outputs;
    uint32_t output_count;
    float *units; /* as model_read_units has them; NULL: none */
};

/* Looks at the metadata of an ONNX model: of its bytes, or, if these are NULL, of the file. Release with own_file_free,
 * after a failure too. False, with a message: it says things of itself that do not agree. A file that cannot be read is
 * not one of ours. */
bool own_file_read(const char *path, const uint8_t *bytes, size_t size, struct own_file *own,
                   char error[GLCNN_ERROR_LENGTH]);
void own_file_free(struct own_file *own);
/* Adds what is between the file's outputs and what the task answers, where it has no record. False, with a message: its
 * input or outputs have not the sizes that it says. */
bool own_file_join(const struct own_file *own, const struct glcnn_onnx_record *record,
                   char error[GLCNN_ERROR_LENGTH]);

#endif
