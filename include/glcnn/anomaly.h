/* Pictures that differ from normal ones: what "glcnn anomaly" does, PatchCore (Roth et al. 2022).
 *
 * A trained network, the backbone, makes features of a picture at one or two of its layers; a patch is their mean over
 * 3x3 pixels, at each pixel of the larger layer. A bank keeps those patches of normal pictures that are farthest from each
 * other. The score of a picture is the distance of its most unusual patch from the nearest in the bank, a little less where
 * the bank has many like that one.
 *
 *     glcnn_anomaly_fit(NULL, "net.glcnn", "bottle", NULL, &anomaly, error);
 *     glcnn_anomaly_save(anomaly, "bottle.glcnn", error);
 *     glcnn_anomaly_begin(anomaly, &path, 1, error);
 *     while (glcnn_anomaly_next(anomaly, &score, error) == GLCNN_SUCCESS && score)
 *         printf("%s %g\n", score->name, score->score);
 *     glcnn_anomaly_destroy(&anomaly);
 *
 * Part of libglcnn_train. Ownership: what a call returns as a pointer to const belongs to the object. Thread-safety: an
 * object is used on the thread of its device. */
#ifndef GLCNN_ANOMALY_H
#define GLCNN_ANOMALY_H

#include <glcnn/data.h>
#include <glcnn/device.h>
#include <glcnn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A bank of patches with the network that makes them, and a threshold. */
typedef struct glcnn_anomaly glcnn_anomaly;

#define GLCNN_ANOMALY_LAYERS 2

/* 0 and NULL stand for the defaults. */
struct glcnn_anomaly_parameters {
    /* Labels of layers behind which the backbone is cut; NULL: behind the deepest with a pixel for at most 8x8 pixels of the
     * picture, and with one for at most 16x16. */
    const char *layers[GLCNN_ANOMALY_LAYERS];
    uint32_t bank; /* patches to keep, up to 65535; default: a tenth, 2000 at most */
    double
        held_out; /* share of the pictures that set the threshold, above 0 and below 1; default 0.25 */
    double quantile; /* of their scores that is the threshold, above 0 and below 1; default 0.95 */
    uint64_t seed;   /* of what is drawn, 0 included */
};

struct glcnn_anomaly_layer {
    const char *label;
    uint32_t width, height, channels;
};

/* Members that a file does not keep are 0 of an object that was read from one. */
struct glcnn_anomaly_description {
    double threshold;                 /* scores above it are anomalous */
    uint32_t columns, rows, channels; /* patches of a picture, and numbers of a patch */
    uint32_t bank;                    /* patches that are kept */
    /* Only an object that was fitted has these, since files do not keep them. */
    uint32_t layer_count;
    const struct glcnn_anomaly_layer *layers;
    uint32_t fitted;   /* pictures with patches to choose from */
    uint32_t held_out; /* pictures whose scores the threshold is one of, */
    uint32_t rank;     /* and which, from the lowest, counted from 1 */
    double quantile;
    uint32_t
        chosen_in; /* dimensions that patches are chosen in: channels, or fewer by a random projection */
};

/* Fits a bank to normal pictures: those of the folder, or of its folder train/good, train or good; of
 * an object of VisA, with its Data/Images, those that split_csv/1cls.csv beside it has for training, or without that file all of
 * Data/Images/Normal. model is a file of "glcnn
 * train" or "glcnn import", the backbone. The same pictures, parameters and device give the same object. parameters NULL: all
 * zero. device NULL: the library's default, which the object opens and closes; another must outlive it. *anomaly is the
 * caller's, NULL after a failure. Errors: GLCNN_INVALID_ARGUMENT for a parameter outside of its range, GLCNN_MALFORMED_DATA
 * for a model or pictures that cannot be used; those of glcnn_device_create; GLCNN_DEVICE_LOST, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_anomaly_fit(glcnn_device *device, const char *model,
                                         const char *folder,
                                         const struct glcnn_anomaly_parameters *parameters,
                                         glcnn_anomaly **anomaly, char error[GLCNN_ERROR_LENGTH]);
/* Reads a file of glcnn_anomaly_save or "glcnn anomaly fit". The rest is as for glcnn_anomaly_fit. */
GLCNN_API glcnn_status glcnn_anomaly_load(glcnn_device *device, const char *path,
                                          glcnn_anomaly **anomaly, char error[GLCNN_ERROR_LENGTH]);
/* Writes a file with all that scoring needs, the backbone too, whole or not at all. Errors: GLCNN_INVALID_STATE for an object
 * that was not fitted, those of glcnn_checkpoint_save. */
GLCNN_API glcnn_status glcnn_anomaly_save(const glcnn_anomaly *anomaly, const char *path,
                                          char error[GLCNN_ERROR_LENGTH]);
/* *anomaly becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_anomaly_destroy(glcnn_anomaly **anomaly);
GLCNN_API const struct glcnn_anomaly_description *glcnn_anomaly_info(const glcnn_anomaly *anomaly);

/* ---- Scores ---- */

/* Folders of pictures are labels. */
typedef enum glcnn_anomaly_kind {
    GLCNN_ANOMALY_UNLABELLED,
    GLCNN_ANOMALY_NORMAL, /* in a folder good, ok or normal */
    GLCNN_ANOMALY_DEFECT, /* in a folder beside such a one */
    GLCNN_ANOMALY_KIND_FORCE32 = 0x7fffffff
} glcnn_anomaly_kind;

struct glcnn_anomaly_score {
    const char *name; /* the picture's path */
    uint32_t index;   /* of all pictures, from 0; pictures that cannot be read are left out */
    glcnn_anomaly_kind kind;
    const char *label; /* the name of that folder, or "" */
    bool is_finite; /* false: the backbone's features are NAN or infinite, and there is no score */
    double score;
    bool is_anomalous;       /* the score is above the threshold */
    uint32_t column, row;    /* of the most unusual patch */
    const double *distances; /* [rows][columns]: of each patch from the nearest in the bank */
};

/* Begins to score files as glcnn_model_predict takes them, in place of those that were under way; of a folder with a folder
 * test, or several below it, these alone; of VisA the pictures that its list has for tests, or without one all. Errors: those of glcnn_dataset_open_files; GLCNN_MALFORMED_DATA for a picture with
 * fewer pixels than patches; GLCNN_OUT_OF_MEMORY, GLCNN_DEVICE_LOST. */
GLCNN_API glcnn_status glcnn_anomaly_begin(glcnn_anomaly *anomaly, const char *const *paths,
                                           uint32_t count, char error[GLCNN_ERROR_LENGTH]);
/* The next score, which lives until the next call; *score NULL: there is none any more. Errors: as glcnn_predictions_next;
 * GLCNN_INVALID_STATE where nothing was begun. */
GLCNN_API glcnn_status glcnn_anomaly_next(glcnn_anomaly *anomaly,
                                          const struct glcnn_anomaly_score **score,
                                          char error[GLCNN_ERROR_LENGTH]);
/* Writes the picture of the score under way as PNG, in grey, coloured where its patches are farther from the bank than the
 * threshold: red, yellow at twice of it, white at three times. Errors: GLCNN_INVALID_STATE where there is no finite score,
 * GLCNN_IO_ERROR. */
GLCNN_API glcnn_status glcnn_anomaly_save_map(const glcnn_anomaly *anomaly, const char *path,
                                              char error[GLCNN_ERROR_LENGTH]);
/* The files that are scored, or were fitted to, all of them pictures of the test part; NULL: there are none. */
GLCNN_API const glcnn_dataset *glcnn_anomaly_data(const glcnn_anomaly *anomaly);

/* The summary says how well the scores of labelled pictures divide normal ones from others. */
struct glcnn_anomaly_summary {
    double auroc; /* area under the ROC curve; NAN where there are none of a kind */
    uint32_t normal_count, defect_count;  /* pictures with a label */
    uint32_t normal_above, defects_above; /* of these with a score above the threshold */
};

/* The scores so far of what is under way. It lives until the next call. */
GLCNN_API const struct glcnn_anomaly_summary *glcnn_anomaly_summarise(glcnn_anomaly *anomaly);

/* Lines on what opening the files decided; "": none. They live until files are opened again. */
GLCNN_API const char *glcnn_anomaly_notes(const glcnn_anomaly *anomaly);
/* Lines on pictures of which the network sees the middle alone, and on those that were skipped. A call has what is new since
 * the one before, and lives until the next. */
GLCNN_API const char *glcnn_anomaly_remarks(glcnn_anomaly *anomaly);

#ifdef __cplusplus
}
#endif
#endif
