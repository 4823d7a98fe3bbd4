/* Images that come as numbers, all of them in memory. */
#ifndef GLCNN_DATA_TABLE_H
#define GLCNN_DATA_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "names.h"

/* [count][height][width][channels], as bytes or as floats, or bytes in a file (stored.h). */
struct table {
    char *path;
    uint32_t count, width, height, channels;
    uint8_t *bytes;
    float *floats;
    struct stored *stored;
};

/* What a file has: images, and labels as numbers of names, or numbers [count][number_count]. */
struct content {
    struct table table;
    uint32_t *labels;
    float *numbers;
    uint32_t number_count;
};

/* How a file is read. */
struct reading {
    const char *path;
    const struct glcnn_data_parameters *parameters;
    struct names *names; /* of labels that are classes; NULL: none are wanted */
    bool takes_numbers;  /* labels are numbers */
    char *decision;      /* GLCNN_ERROR_LENGTH: a message on what was found, or "" */
    char *error;
};

/* Values in the order of a file, a row for each image. */
struct rows {
    uint32_t count;
    size_t length;    /* of a row */
    bool are_whole;   /* of a type of whole numbers */
    bool is_planar;   /* [C][H][W]; otherwise [H][W][C] */
    const void *from; /* what `get` takes them from */
    void (*get)(const struct rows *rows, uint32_t row, float *values);
};

bool reading_is_labelled(const struct reading *r);
size_t table_values(const struct table *table); /* of an image */
void table_free(struct table *table);
void content_free(struct content *content);

/* Extents, out of a shape [N][..] of rank 2 to 4; false, with a message, if they are beyond the
 * limits or not what the parameters ask for. */
glcnn_status table_shape(const struct reading *r, uint32_t rank, const uint32_t *shape,
                         struct table *table, bool *is_planar);
/* Checks the rows and takes them over; table has its extents, and after a failure is to be freed. */
glcnn_status table_fill(const struct reading *r, const struct rows *rows, struct table *table);
/* The same of values that are bytes and stay so, in the order of a file. */
glcnn_status table_fill_bytes(const struct reading *r, const uint8_t *values, bool is_planar,
                              struct table *table);
/* How many bytes of images may be kept. */
uint64_t data_memory(const struct glcnn_data_parameters *parameters);
/* Bytes to floats, where the other parts have floats. */
glcnn_status table_make_floats(struct table *table, char *error);

#define ARRAY_HEAD ((size_t)1 << 17) /* bytes; more than any head has */

/* A format of files that have one array each. There must be as many labels as images. */
struct array_format {
    /* Compares what the head says with the size of the file. bytes->size is the file's; of its data the
     * first ARRAY_HEAD are there. */
    glcnn_status (*check)(const struct reading *r, const struct bytes *bytes);
    /* stored_open, or NULL: images are always read whole. */
    glcnn_status (*leave_images)(const struct reading *r, struct table *table);
    glcnn_status (*take_images)(const struct reading *r, const struct bytes *bytes,
                                struct table *table);
    glcnn_status (*take_labels)(const struct reading *r, const struct bytes *bytes,
                                struct content *content);
};
extern const struct array_format array_npy, array_idx;

/* The file of images and, where there are names, the one beside it whose name has "labels" for
 * "images" and "idx1" for "idx3". After a failure *content is all zero; the same holds below. */
glcnn_status array_read(const struct reading *r, const struct array_format *format,
                        struct content *content);
glcnn_status csv_read(const struct reading *r, struct content *content);

/* The images of an archive that are of a part, or with `part` GLCNN_DATA_PARTS those that are of
 * none. *found: there are some. */
glcnn_status npz_read(const struct reading *r, uint32_t part, struct content *content, bool *found);

#endif
