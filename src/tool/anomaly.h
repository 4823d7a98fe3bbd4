/* glcnn anomaly: what its two parts, fit and score, share. They return exit statuses, and have printed
 * what was wrong. */
#ifndef GLCNN_TOOL_ANOMALY_H
#define GLCNN_TOOL_ANOMALY_H

#include "train/anomaly_file.h"
#include "task/anomaly_nearest.h"
#include "train/anomaly_pictures.h"
#include "train/claim.h"
#include "tool.h"

#define ANOMALY_BATCH 4

/* As the command line has it. */
struct anomaly_options {
    const char *model, *out, *maps;
    const char *outputs[PATCHES_OUTPUTS];
    size_t output_count;
    uint32_t bank;   /* patches to keep; 0: a tenth, BANK_DEFAULT at most */
    double held_out; /* share of the normal pictures */
    double quantile;
    uint64_t seed;
    bool force, json;
};

struct anomaly {
    const struct tool_command *command;
    struct tool_device tool;
    struct anomaly_options options;
    struct claims claims;
    struct saved saved;
    struct pictures pictures;
    struct patches patches;
    struct bank bank;
    struct nearest nearest;
    struct anomaly_record record;
};

int anomaly_fit(struct anomaly *anomaly, const char *folder);
int anomaly_score(struct anomaly *anomaly, const char *model, char *const *files);

/* complain of a failure. */
int anomaly_fail(const struct anomaly *anomaly, const char *error);
/* Opens the device. */
int anomaly_open_device(struct anomaly *anomaly);

/* Looks at a batch of pictures and their patches. False: a message in `error`, or "" there and one of the
 * device. */
typedef bool anomaly_visitor(void *user, const struct glcnn_data_batch *batch, glcnn_image *patches,
                             char error[GLCNN_ERROR_LENGTH]);
/* Makes patches of the pictures, in their order, and visits all batches that have a picture of those that
 * are `wanted` by their indices; NULL: all. */
int anomaly_visit(struct anomaly *anomaly, const bool *wanted, anomaly_visitor *visit, void *user);

/* The score of a picture of the batch that `nearest` has seen, by its worst patch. False: the picture has
 * features that are not finite. */
bool anomaly_rate(const struct anomaly *anomaly, uint32_t picture, double *score, uint32_t *worst);
/* complain of such a picture, one of `count`. */
int anomaly_not_finite(const struct anomaly *anomaly, const char *name, uint32_t count);

#endif
