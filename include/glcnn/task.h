/* Networks for tasks on pictures: a trained one from its file, how well it does on labelled pictures, and what it
 * answers to new ones.
 *
 * Part of libglcnn_train, not of libglcnn, and not included by glcnn/glcnn.h. "glcnn evaluate" and "glcnn predict" print
 * what is returned here.
 *
 *   classify   a class for each picture                      accuracy
 *   regress    numbers for each picture                      R2
 *   segment    a class for each pixel                        mean IoU, over the pictures' own pixels
 *   detect     boxes around objects, and their classes       mAP@0.5
 *   keypoints  places in each picture                        PCK@0.05
 *
 * Ownership: what a call returns as a pointer to const belongs to the object that it is of, until that is destroyed or
 * as said. Thread-safety: a model is used on the thread of its device, and so are its predictions; what is of tasks is
 * safe on any. */
#ifndef GLCNN_TASK_H
#define GLCNN_TASK_H

#include <glcnn/data.h>
#include <glcnn/detection.h>
#include <glcnn/device.h>
#include <glcnn/node.h>
#include <glcnn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tasks ---- */

struct glcnn_task_info {
    const char *name;     /* "detect" */
    const char *text;     /* what it does, a clause */
    const char *measure;  /* what the best network has most of: "mAP@0.5" */
    const char *explains; /* the measure, in a clause, for who has never heard of it */
    const char *classes;  /* what is counted as classes: "classes", "numbers", "coordinates" */
    glcnn_data_targets targets; /* what it learns from */
};

/* Number i of them, the default first; NULL beyond the last. It lives for ever. */
GLCNN_API const struct glcnn_task_info *glcnn_task_at(size_t number);

/* ---- Models ---- */

/* A network with what it takes to use it on pictures of any size. */
typedef struct glcnn_model glcnn_model;

struct glcnn_model_description {
    const char *title; /* what the network is called: "resnet10" */
    const struct glcnn_task_info *task;
    uint32_t width, height, channels; /* of pictures as the network sees them */
    uint32_t class_count;
    const char *const *class_names;
    const float *mean,
        *deviation; /* by channel: pictures are normalised to (v - mean) / deviation, v in 0 .. 1 */
    size_t value_count; /* numbers of an answer: struct glcnn_prediction */
};

/* Reads a file of "glcnn train", glcnn/train.h or "glcnn import". *model is the caller's, NULL after a failure. device
 * NULL: the library's default, which the model opens and closes; another must outlive it. Errors: GLCNN_MALFORMED_DATA
 * for what cannot be read, is no model file or has no answer for a task; those of glcnn_device_create,
 * glcnn_network_deserialize and glcnn_checkpoint_load; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_model_load(glcnn_device *device, const char *path, glcnn_model **model,
                                        char error[GLCNN_ERROR_LENGTH]);
/* Does the same for pictures that are brought to another size than the network was made for, up to
 * GLCNN_DATA_MAX_SIDE, where its layers allow: those that work at each place alike do, means of whole maps, and what
 * "glcnn train" puts behind them; a layer that has weights for each place does not. width and height 0: the size that it
 * was made for. Errors: also GLCNN_INVALID_ARGUMENT for a size out of range; GLCNN_MALFORMED_DATA names the layer that
 * does not. */
GLCNN_API glcnn_status glcnn_model_load_sized(glcnn_device *device, const char *path,
                                              uint32_t width, uint32_t height, glcnn_model **model,
                                              char error[GLCNN_ERROR_LENGTH]);
/* A network that has learned nothing. */
struct glcnn_model_parameters {
    const char *task; /* NULL: "classify" */
    const char *net;  /* as the setting "net" of glcnn/train.h; NULL: "resnet10" */
    uint32_t width, height,
        channels; /* of pictures, up to GLCNN_DATA_MAX_SIDE and GLCNN_DATA_MAX_CHANNELS */
    /* Names of its classes, numbers or coordinates, 1 or more; UTF-8, copied. */
    const char *const *class_names;
    uint32_t class_count;
    const float *mean, *deviation; /* by channel, copied; NULL: 0 and 1 */
    uint64_t seed;                 /* of the weights */
};

/* An image within a network, and its size. */
struct glcnn_feature {
    glcnn_image_node *image;
    uint32_t width, height, channels;
};

/* Puts what a task has behind features of a network of the caller's, the largest first, 1 to 6 of them, and returns what
 * the network then answers as a node: the only image of it that no filter reads, where glcnn_checkpoint_save's file is
 * to be a model's. Classify and regress read the means of the last feature; the others join all of them. Of the parameters task,
 * size, channels and the number of names are read. Labels of the layers are the task's. NULL: with the reason in
 * `error`, a parameter out of range, features that are none, or a failure of the network. Thread-safety: on the thread
 * of the network's device. */
GLCNN_API glcnn_image_node *glcnn_task_add_head(glcnn_network *network,
                                                const struct glcnn_model_parameters *parameters,
                                                const struct glcnn_feature *features,
                                                uint32_t count, char error[GLCNN_ERROR_LENGTH]);

/* Makes one for a task. *model is the caller's, NULL after a failure. device: as glcnn_model_load. Errors:
 * GLCNN_INVALID_ARGUMENT for a name that there is not, a number outside of its range and pictures that are too small for
 * the network; those of glcnn_device_create; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_model_create(glcnn_device *device,
                                          const struct glcnn_model_parameters *parameters,
                                          glcnn_model **model, char error[GLCNN_ERROR_LENGTH]);
/* Writes a file that glcnn_model_load, the tool and the setting "model" of glcnn/train.h read, whole or not at all.
 * It has the network's weights as they are, and its nodes and the settings of its kernels as the model was made or
 * loaded with them: what is changed of these later, glcnn_network_serialize writes (glcnn/serialize.h).
 * Errors: GLCNN_INVALID_ARGUMENT for names that are not UTF-8, those of glcnn_checkpoint_save. */
GLCNN_API glcnn_status glcnn_model_save(const glcnn_model *model, const char *path,
                                        char error[GLCNN_ERROR_LENGTH]);
/* *model becomes NULL. NULL does nothing. Its predictions must be gone. */
GLCNN_API void glcnn_model_destroy(glcnn_model **model);
GLCNN_API const struct glcnn_model_description *glcnn_model_info(const glcnn_model *model);
/* The network, which stays the model's: an input of normalised pictures, and one image, the answer. The next evaluation
 * or prediction heeds what is changed in it, weights and settings of kernels; one that is under way need not. */
GLCNN_API glcnn_network *glcnn_model_network(const glcnn_model *model);

/* ---- Evaluation ---- */

/* All zero: as it is. */
struct glcnn_model_options {
    /* The mean of the answers to a picture and its mirror image: of classify alone, otherwise refused with
     * GLCNN_UNSUPPORTED. */
    bool flip;
    const char *mask_colours; /* evaluation: as struct glcnn_data_parameters; NULL: none */
    bool page;    /* evaluation: keep what glcnn_model_save_page of glcnn/report.h draws */
    uint32_t top; /* predictions of classify: how many classes the text names; 0: 1 */
    /* Predictions of detect: which boxes there are; of keypoints: the score is the least confidence that is drawn. NULL:
     * { 0.3, 0.6, 300, false }. Of other tasks refused with GLCNN_UNSUPPORTED. */
    const struct glcnn_detection_limits *limits;
    /* A data set that is open (glcnn/data.h) and its part, in place of the path or paths, which are not read and
     * may be NULL: of files, or of a program's own images. Its images have the size and the channels of the network, its
     * pictures the network's fit, and for an evaluation its classes the network's names. Predictions pass over its
     * labels. It must outlive the predictions, or the model's evaluation. NULL: none. */
    glcnn_dataset *data;
    glcnn_data_part part;
};

/* The result of an evaluation. A number that is not defined is NAN. */
struct glcnn_evaluation {
    double measure; /* the task's */
    double loss;    /* the mean over pictures; of segment over pixels that have a class */
    uint64_t count; /* pictures that were measured */
    /* The test part, or if there is none the validation part, or if there is none of these all. */
    glcnn_data_part part;
    /* Pictures of that part that the network was trained on, as far as its file remembers; of more than 1024 an
     * estimate, and is_exact is false. */
    uint32_t trained_on;
    bool is_exact;
    /* The measure of each class, number or keypoint, and on how many it is measured; part_count 0: none. */
    uint32_t part_count;
    const double *part_measures, *part_counts;
    const char *text; /* what glcnn evaluate prints of it, lines; what others named is escaped */
    const char *json; /* the same as glcnn evaluate --json prints it, UTF-8 */
};

/* Measures the model on labelled pictures (glcnn/data.h), which must have its classes, by name. options NULL: all zero.
 * *evaluation is the model's, until its next evaluation, and NULL after a failure. The data stay open as long. Errors: those of glcnn_dataset_open and of the loader;
 * GLCNN_MALFORMED_DATA for answers that are not finite; GLCNN_UNSUPPORTED, GLCNN_DEVICE_LOST, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_model_evaluate(glcnn_model *model, const char *data,
                                            const struct glcnn_model_options *options,
                                            const struct glcnn_evaluation **evaluation,
                                            char error[GLCNN_ERROR_LENGTH]);
/* Lines on what opening the data of the last evaluation decided, also of one that failed; "": none. It lives until the
 * next. */
GLCNN_API const char *glcnn_model_notes(const glcnn_model *model);
/* Lines on pictures of which the network sees the middle alone, on those that were skipped, and on why the result may say
 * nothing; otherwise as glcnn_model_notes. */
GLCNN_API const char *glcnn_model_remarks(const glcnn_model *model);

/* ---- Prediction ---- */

/* Answers to pictures, one after the other. */
typedef struct glcnn_predictions glcnn_predictions;

/* A place in a picture, in pixels of it. */
struct glcnn_point {
    double x, y;
    float confidence; /* about 1: it is seen; about 0: it is not */
};

/* The answer of a network to a picture. A member that the task does not have is NULL or 0. */
struct glcnn_prediction {
    const char *name;       /* the picture's path, or its number in a file of several */
    uint32_t index;         /* of all pictures, from 0; pictures that cannot be read are left out */
    uint32_t width, height; /* of the picture */
    bool is_finite; /* false: a value is NAN or infinite, and there is no answer but `values` */
    /* The network's answer, value_count numbers of struct glcnn_model_description: of classify the probabilities
     * of classes, of regress the numbers, of others what the task's network gives. */
    const float *values;
    uint32_t label;    /* classify: the most probable class */
    float probability; /* and its probability */
    /* Detect: boxes within the limits of the options, in pixels of the picture, the likeliest first. */
    const struct glcnn_detection *boxes;
    uint32_t box_count;
    const struct glcnn_point *points; /* keypoints, in the order of their names */
    uint32_t point_count;
};

/* Begins to answer files as glcnn_dataset_open_files takes them: pictures, folders of pictures, or one file of images.
 * options NULL: all zero. *predictions is the caller's, NULL after a failure; the model must outlive it, and has no
 * other meanwhile. Errors: as glcnn_model_evaluate, and GLCNN_INVALID_STATE where the model has others. */
GLCNN_API glcnn_status glcnn_model_predict(glcnn_model *model, const char *const *paths,
                                           uint32_t count,
                                           const struct glcnn_model_options *options,
                                           glcnn_predictions **predictions,
                                           char error[GLCNN_ERROR_LENGTH]);
/* The next answer, which lives until the next call; *prediction NULL: there is none any more. Errors: those of
 * glcnn_data_loader_next, GLCNN_DEVICE_LOST, GLCNN_OUT_OF_MEMORY; then there is no further answer. */
GLCNN_API glcnn_status glcnn_predictions_next(glcnn_predictions *predictions,
                                              const struct glcnn_prediction **prediction,
                                              char error[GLCNN_ERROR_LENGTH]);
/* More of the answer under way, made at the call, which lives until the next glcnn_predictions_next. NULL: there is no
 * answer, it is not finite, there is not enough memory, or as said. */
/* Returns what glcnn predict prints of it, lines in which what others named is escaped. */
GLCNN_API const char *glcnn_predictions_text(glcnn_predictions *predictions);
/* Returns the same as glcnn predict --json prints it, in UTF-8. */
GLCNN_API const char *glcnn_predictions_json(glcnn_predictions *predictions);
/* Segment: [height][width], the class of each pixel of the picture, GLCNN_DATA_NO_CLASS where the network does not
 * see it. NULL for other tasks. */
GLCNN_API const uint8_t *glcnn_predictions_mask(glcnn_predictions *predictions);
/* Reads the picture of the answer under way again, whole, into pixels, [height][width][3], and draws into it what was
 * found. Errors: GLCNN_UNSUPPORTED for classify and regress, which find nothing to draw; GLCNN_INVALID_STATE where there is
 * no finite answer; those of glcnn_dataset_read_picture. */
GLCNN_API glcnn_status glcnn_predictions_draw(glcnn_predictions *predictions, uint8_t *pixels,
                                              char error[GLCNN_ERROR_LENGTH]);
/* The files, all of them pictures of the test part. They are the predictions'; of an open data set it itself. */
GLCNN_API const glcnn_dataset *glcnn_predictions_data(const glcnn_predictions *predictions);
/* Lines on what opening the files decided; "": none. They live as long as the predictions. */
GLCNN_API const char *glcnn_predictions_notes(glcnn_predictions *predictions);
/* Lines on pictures of which the network sees the middle alone, and on those that were skipped; "": none. A call has what is
 * new since the one before, and lives until the next. */
GLCNN_API const char *glcnn_predictions_remarks(glcnn_predictions *predictions);
/* *predictions becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_predictions_destroy(glcnn_predictions **predictions);

#ifdef __cplusplus
}
#endif
#endif
