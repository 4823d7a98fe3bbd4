/* What the files of this room have in common.
 *
 * Room: Models for other programs: a network with what surrounds it as a file that says what it is, what a quantiser
 * wants to know, and such a file read again. Includes public headers, base/, task/ and train/. */
#ifndef GLCNN_EXPORT_EXPORT_H
#define GLCNN_EXPORT_EXPORT_H

#include <glcnn/export.h>
#include <glcnn/onnx.h>

#include "base/text.h"
#include "task/saved.h"

/* A model on its way into a file. */
struct leaving {
    const struct saved *saved;
    const struct glcnn_export_options *options;
    glcnn_network *network;
    const struct model *model; /* NULL: the network is that of the record, and no more is known */
    struct glcnn_onnx_record *record; /* NULL: it was made here */
    struct task_end ends[TASK_ENDS];  /* without a record */
    uint32_t end_count;
    float *units;                   /* of regress, as model_read_units has them; NULL: none */
    struct detection_layout layout; /* of a detector; no scales: it is none */
};

/* The name of the value that the network begins with. */
const char *leaving_beginning(const struct leaving *leaving);
/* Names of the values at which it ends where the file is read again. How many there are. */
uint32_t leaving_read_ends(const struct leaving *leaving, const char *names[TASK_ENDS]);

/* Metadata of a file, to be released with metadata_free, after a failure too. False: not enough memory. */
struct metadata {
    struct saved_entries saved;
    struct glcnn_onnx_entry entries[SAVED_ENTRIES + 16];
    size_t count;
    struct text texts[8];
    size_t text_count;
};
bool metadata_make(const struct leaving *leaving, struct metadata *metadata);
void metadata_free(struct metadata *metadata);

#endif
