/* Files of data that tests make: pictures, arrays, texts, in a folder of the test's own. */
#ifndef GLCNN_TESTS_DATA_FILES_H
#define GLCNN_TESTS_DATA_FILES_H

#include <glcnn/data.h>

#include <stdbool.h>

/* The folder is made by the first call, and removed with all that is in it at the end. */
const char *data_folder(void);
void data_remove_folder(void);

/* FOLDER/NAME, one of a few that live at a time; the folders on its way are made. */
const char *data_path(const char *name);
void data_write(const char *name, const void *bytes, size_t size);
void data_write_text(const char *name, const char *text);
/* The same, gzipped. */
void data_write_gz(const char *name, const void *bytes, size_t size);
/* Reads a file of up to `size` bytes; how many it has. */
size_t data_read(const char *name, void *bytes, size_t size);

/* A picture of width x height: value(x, y, c) of channel c, in the range of its depth. */
typedef uint32_t (*data_value)(uint32_t x, uint32_t y, uint32_t c);

struct data_png {
    uint32_t width, height;
    int colour_type, depth; /* of libpng; 0: 8 */
    bool interlaced;
    uint32_t orientation; /* EXIF's; 0: none */
    data_value value;     /* of a palette the number: entry i is (i, 2 i, 255 - i), alpha 255 - i */
};
void data_write_png(const char *name, const struct data_png *png);
/* Puts a chunk into a PNG file of up to 64 KiB, behind its head or, `last`, before its end. */
void data_add_chunk(const char *name, const char *type, const void *bytes, size_t size, bool last);

/* A TIFF structure of one entry, the orientation, as a number of a type of TIFF's; its size, up to
 * DATA_TIFF. `apart`: there are three numbers, which stand behind the entry. */
#define DATA_TIFF 50
size_t data_tiff(uint8_t tiff[DATA_TIFF], uint32_t orientation, bool big_endian, int type,
                 bool apart);

struct data_jpeg {
    uint32_t width, height, components; /* 1 grey, 3 colour, 4 CMYK */
    bool progressive, inverted;         /* inverted: as Adobe writes CMYK, YCCK with its mark */
    uint32_t orientation;
    bool big_endian;
    int type; /* of the orientation; 0: 3, a SHORT */
    bool apart;
    data_value value;
};
void data_write_jpeg(const char *name, const struct data_jpeg *jpeg);

/* 0 .. 255 of red, green, blue and, where it has it, alpha. */
struct data_webp {
    uint32_t width, height;
    bool has_alpha, is_lossy, is_animated; /* animated: by its head alone */
    uint32_t orientation;
    bool has_mark; /* "Exif" stands before it */
    data_value value;
};
void data_write_webp(const char *name, const struct data_webp *webp);

/* Samples in the range of their depth; of one bit 0 or 1. */
struct data_tiff_file {
    uint32_t width, height;
    int photometric, samples, depth; /* of libtiff; depth 1, 8, 16 or 32 */
    int extra;                       /* what the last sample is, 0: nothing beside the colours */
    int compression;                 /* 0: none */
    uint32_t tile;                   /* side of a tile; 0: strips */
    bool is_separate, is_float;
    uint32_t orientation; /* 0: none */
    const char *mode;     /* NULL: "w" */
    data_value value;     /* of a palette the number: entry i is (i, 2 i, 255 - i) */
};
void data_write_tiff(const char *name, const struct data_tiff_file *tiff);

/* A .npy file of version 1.0, in memory; returns its size. */
size_t data_npy(void *file, const char *descr, const char *shape, const void *bytes, size_t size);
void data_write_npy(const char *name, const char *descr, const char *shape, const void *bytes,
                    size_t size);

/* An archive: names, and the bytes of each; deflated. */
struct data_entry {
    const char *name;
    const void *bytes;
    size_t size;
};
void data_write_zip(const char *name, const struct data_entry *entries, size_t count);

/* Opens and expects success. NULL parameters: none. */
glcnn_dataset *data_open(const char *name, const struct glcnn_data_parameters *parameters);
/* Opens and expects a failure whose message has the phrase. */
void data_refuses(const char *name, const struct glcnn_data_parameters *parameters,
                  glcnn_status status, const char *phrase);
glcnn_data_loader *data_load(glcnn_dataset *data,
                             const struct glcnn_data_loader_parameters *parameters);
/* The next batch, expected to be there. */
struct glcnn_data_batch data_next(glcnn_data_loader *loader);

/* "a.png: cat 0.1 0.2 0.5 0.6, dog ..; b.png": names without their folders; the text lives until the next
 * call. */
const char *data_describe_boxes(const glcnn_dataset *data, glcnn_data_part part);
/* "cat dog", alike. */
const char *data_describe_classes(const glcnn_dataset *data);
/* Whether one of the notes or decisions has the phrase; prints the first otherwise. */
bool data_says(const glcnn_dataset *data, const char *(*message)(const glcnn_dataset *, uint32_t),
               const char *phrase);

#endif
