/* Declares what fitting and scoring of glcnn/anomaly.h share. */
#ifndef GLCNN_TRAIN_ANOMALY_H
#define GLCNN_TRAIN_ANOMALY_H

#include <glcnn/anomaly.h>

#include "anomaly_file.h"
#include "anomaly_pictures.h"
#include "task/anomaly_nearest.h"
#include "task/trained.h"

#define ANOMALY_BATCH 4

/* Files that are scored. */
struct anomaly_scoring {
    glcnn_data_loader *loader;
    uint64_t left; /* batches that were not run */
    struct glcnn_data_batch batch;
    uint32_t next, place; /* of the batch: the next, and that of the score under way */
    struct glcnn_anomaly_score score;
    char name[ANOMALY_PATH], label[ANOMALY_PATH];
    bool has_score; /* one that is finite */
    double *scores; /* of pictures that have labels */
    bool *are_defects;
    uint32_t labelled;
    struct glcnn_anomaly_summary summary;
};

struct glcnn_anomaly {
    struct own_device own; /* where the user gives none */
    glcnn_device *device;
    struct saved saved;
    struct pictures pictures;
    struct patches patches;
    struct bank bank;
    struct nearest nearest;
    struct anomaly_record record;
    struct glcnn_anomaly_layer layers[PATCHES_OUTPUTS];
    struct glcnn_anomaly_description info;
    struct anomaly_scoring scoring;
    struct text notes, remarks, said; /* said: the remarks of the last call */
};

/* A new object, whose device is that or the library's default. */
glcnn_status anomaly_create(glcnn_device *device, glcnn_anomaly **anomaly,
                            char error[GLCNN_ERROR_LENGTH]);
/* Sets the info to what files keep. */
void anomaly_describe(glcnn_anomaly *anomaly);
/* Opens pictures, and gives them to the network of patches. */
glcnn_status anomaly_open_pictures(glcnn_anomaly *anomaly, const char *const *paths, uint32_t count,
                                   char error[GLCNN_ERROR_LENGTH]);
glcnn_status anomaly_take_pictures(glcnn_anomaly *anomaly, char error[GLCNN_ERROR_LENGTH]);
/* Ends what is scored, and closes the pictures. */
void anomaly_close_pictures(glcnn_anomaly *anomaly);
bool anomaly_load_pictures(const glcnn_anomaly *anomaly, glcnn_data_loader **loader,
                           char error[GLCNN_ERROR_LENGTH]);

/* The score of a picture of the batch that `nearest` has seen, by its worst patch. False: the picture has
 * features that are not finite. */
bool anomaly_rate(const glcnn_anomaly *anomaly, uint32_t picture, double *score, uint32_t *worst);

#endif
