/* Models for other programs: a trained network as a file that ONNX Runtime, OpenVINO, TensorRT, ncnn, an NPU's
 * converter or a program of its user's runs, and that says what it is for.
 *
 * Part of libglcnn_train, not of libglcnn, and not included by glcnn/glcnn.h. "glcnn export" and "glcnn import" print what is
 * returned here.
 *
 * A file is an ONNX model of opset 14, but that of a model which was imported is its own file, with the weights that
 * it has now, and its names. Its one input, "images", is N,C,H,W; N is of any size unless `batch` says otherwise. Its
 * outputs are
 *
 *   classify   scores     N x classes, whose soft max is the probabilities
 *   regress    numbers    N x numbers, in units of the data
 *   segment    scores     N x classes x H x W, whose soft max is the probabilities
 *   keypoints  maps       N x keypoints x rows x columns: about 1 where a keypoint is, 0 elsewhere
 *   detect     by `boxes`, below
 *
 * Its metadata are what loaders of Ultralytics' files read: task, names (a dictionary as Python writes it), stride,
 * imgsz ([H, W]), batch, channels, and kpt_shape of keypoints; and what "glcnn import" makes the same model of again:
 * the keys "glcnn.*" and "model.*" of include/model_files.md. The task is called as here: those of Ultralytics that are
 * classify and detect mean the same.
 *
 * A model whose pictures are searched for what is not as usual ("glcnn anomaly") does not leave: its answer is that of
 * a search among patches of normal pictures, which no file of a network has. Its backbone is what it was fitted with.
 *
 * Thread-safety: a model is used on the thread of its device. */
#ifndef GLCNN_EXPORT_H
#define GLCNN_EXPORT_H

#include <glcnn/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a detector's boxes leave; of other tasks it must be SPLIT. Each grid has a stride S: 8, 16, 32 pixels, and places
 * (x, y) at the points (x + 1/2, y + 1/2) S of a picture as the network sees it. */
typedef enum glcnn_export_boxes {
    /* For each grid "boxes_S", N x 4 x rows x columns, and "scores_S", N x classes x rows x columns, as their
     * convolutions leave them: ln(1 + e^v) S of the former are the distances to a box's left, top, right and bottom in
     * pixels, and 1 / (1 + e^-v) of the latter the probabilities. Nothing of a different kind is joined, so that each
     * can have a scale of its own in whole numbers. */
    GLCNN_EXPORT_BOXES_SPLIT = 0,
    /* "output", N x (4 + classes) x places of all grids: a box's centre x and y, width and height in pixels, and the
     * probability of each class. */
    GLCNN_EXPORT_BOXES_YOLO,
    /* "boxes", K x 4: left, top, right, bottom in pixels; "scores", K; "classes" and "pictures", K, int64: boxes of a
     * probability above 0.3, of which those that overlap a likelier one of their class by more than 0.6 are left out,
     * by pictures and classes, the likeliest first, at most 300 of a class. */
    GLCNN_EXPORT_BOXES_NMS
} glcnn_export_boxes;

/* What "images" are. */
typedef enum glcnn_export_pixels {
    GLCNN_EXPORT_PIXELS_NORMALISED = 0, /* float32: (v - mean) / deviation of v in 0 .. 1 */
    GLCNN_EXPORT_PIXELS_UNIT,           /* float32 in 0 .. 1: the file normalises */
    GLCNN_EXPORT_PIXELS_BYTES           /* uint8: the same */
} glcnn_export_pixels;

/* All zero: the defaults. */
struct glcnn_export_options {
    glcnn_export_boxes boxes;
    uint32_t batch; /* 0: of any size */
    glcnn_export_pixels pixels;
    bool
        is_blue_first; /* of UNIT and BYTES, with three channels: blue, green, red; otherwise red comes first */
    /* Labelled pictures (glcnn/data.h), for a file in int8 (glcnn/onnx.h); NULL: it is in float32. Ranges are those
     * that the network was trained to be int8 by ("quantise" of glcnn/train.h), unless int8_pictures or int8_percentile
     * is set, and of others those on the training part. An imported model leaves as the network that it is here, not with its own operators.
     * The text says how well the network does on the test part (the validation part where there is none) in float32
     * and in int8, its arithmetic made on the device, and which layers' results are off most. */
    const char *int8_data;
    uint32_t int8_pictures; /* evenly spread over the training part; 0: 256 */
    /* Of each value's numbers this share lies within its range, in percent, half of the rest on either side; 0: 100,
     * the least to the most. */
    double int8_percentile;
    bool int8_small_weights; /* in -63 .. 63: struct glcnn_onnx_quantization */
};

struct glcnn_exported_output {
    const char *name;
    const char *node; /* which makes it: an end node, as some tools call it */
};

/* A file. */
struct glcnn_exported {
    const uint8_t *bytes;
    size_t size;
    const char *text; /* what the file takes and gives, lines; what others named is escaped */
    const char *input;
    const struct glcnn_exported_output *outputs;
    uint32_t output_count;
};

/* Makes one of a model file, or of a model. *exported is the caller's, NULL after a failure. device NULL: the library's
 * default. Errors: those of glcnn_model_load and glcnn_onnx_write_with; GLCNN_UNSUPPORTED for a model of anomalies,
 * and for options that it cannot have, with the reason; with int8_data also those of glcnn_model_evaluate and
 * glcnn_onnx_quantization_create. */
GLCNN_API glcnn_status glcnn_export_file(glcnn_device *device, const char *path,
                                         const struct glcnn_export_options *options,
                                         const struct glcnn_exported **exported,
                                         char error[GLCNN_ERROR_LENGTH]);
GLCNN_API glcnn_status glcnn_export_model(glcnn_model *model,
                                          const struct glcnn_export_options *options,
                                          const struct glcnn_exported **exported,
                                          char error[GLCNN_ERROR_LENGTH]);
/* *exported becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_exported_destroy(const struct glcnn_exported **exported);

/* ---- For quantisers ---- */

/* Training pictures, evenly spread over them, as a file takes them, and what to tell other people's quantisers: RKNN,
 * Hailo, ONNX Runtime, OpenVINO, TensorRT. */
struct glcnn_calibration_parameters {
    const char *model; /* path of the model file */
    const char *data;  /* that it was trained on: glcnn/data.h */
    uint32_t count; /* pictures, of which all are held in memory; at most GLCNN_CALIBRATION_MOST */
    const struct glcnn_export_options *options; /* of the file; NULL: all zero */
    const struct glcnn_exported *exported;      /* the file */
    const char *model_name;                     /* what the file is called; NULL: "model.onnx" */
};

#define GLCNN_CALIBRATION_MOST 10000
#define GLCNN_CALIBRATION_NAME 32

/* Names of files of a kit. Pictures are numbered from 0; of data that are no bytes with 1 or 3 channels there are
 * neither pictures nor their list. */
#define GLCNN_CALIBRATION_ARRAY                                                                    \
    "pictures.npy" /* N,C,H,W of float32, or of bytes where the file takes bytes */
#define GLCNN_CALIBRATION_PICTURE "%05u.png" /* as the network sees it, red first, not normalised */
#define GLCNN_CALIBRATION_LIST    "dataset.txt" /* names of the pictures, a line each */
#define GLCNN_CALIBRATION_README                                                                   \
    "README.md" /* each tool's command, mean, deviation and end nodes */

struct glcnn_calibration_file {
    char name[GLCNN_CALIBRATION_NAME];
    const void *bytes;
    size_t size;
};

struct glcnn_calibration {
    const struct glcnn_calibration_file *files;
    uint32_t file_count, picture_count;
    const char *notes; /* what opening the data decided, and what is left out; lines */
};

/* Makes the files of a kit. *calibration is the caller's, NULL after a failure. Errors: those of glcnn_model_evaluate
 * for the data; GLCNN_UNSUPPORTED for a network of no task, and for bytes of data that are none. */
GLCNN_API glcnn_status glcnn_export_calibration(
    const struct glcnn_calibration_parameters *parameters,
    const struct glcnn_calibration **calibration, char error[GLCNN_ERROR_LENGTH]);
/* *calibration becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_calibration_destroy(const struct glcnn_calibration **calibration);

/* ---- Imports ---- */

/* The parameters say what a file of another program does not. All zero: nothing more is known. */
struct glcnn_import_parameters {
    /* The ONNX model itself, as glcnn_tflite_to_onnx has it: the path only names it. NULL: the file is read. A file of
     * glcnn_export_file says what it is for, and becomes the model that it was, unless `output` or `head_classes` are
     * given. */
    const uint8_t *bytes;
    size_t size;
    uint32_t width, height, channels; /* of its images, where it leaves them open */
    /* Scale pictures' shorter side to it, then cut the middle out; 0: until they cover the images. */
    uint32_t resize;
    /* They normalise values in 0 .. 1: one number, or one for each channel, with commas between; NULL: 0 and 1. */
    const char *mean, *deviation;
    const char *output;      /* end the network at this value of the file; NULL: at its outputs */
    uint32_t head_classes;   /* add a layer of so many classes behind the mean of the last output */
    const char *class_names; /* path of a text, a name on each line; NULL: numbers from 0 */
    bool external_links;     /* read data that lie outside of the file's folder */
    bool lists_all;          /* the text lists all parameters, not only the first */
};

struct glcnn_imported {
    /* The lines say what the model takes and returns, and what of it trains; what others named is escaped. */
    const char *text;
};

/* Makes a model file of an ONNX file, whole or not at all. A network that gives a score or a probability for each class
 * is a classifier, as glcnn_model_load reads it; any other is kept for the setting "model" of glcnn/train.h, which puts
 * a head on it, and for glcnn_export_file. parameters NULL: all zero. *imported is the caller's, NULL after a failure.
 * device NULL: the library's default. Errors: GLCNN_INVALID_ARGUMENT for a resize that is smaller than the images, and for
 * numbers that are not as many as channels; GLCNN_UNSUPPORTED for a network of several inputs; GLCNN_MALFORMED_DATA for
 * names that are not those of as many classes; those of glcnn_onnx_load and glcnn_checkpoint_save. */
GLCNN_API glcnn_status glcnn_import_file(glcnn_device *device, const char *path,
                                         const struct glcnn_import_parameters *parameters,
                                         const char *out, const struct glcnn_imported **imported,
                                         char error[GLCNN_ERROR_LENGTH]);
/* *imported becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_imported_destroy(const struct glcnn_imported **imported);

#ifdef __cplusplus
}
#endif
#endif
