/* Files of "glcnn anomaly fit": model files (saved.h) of the network that makes patches, with the bank as
 * bytes, [patches][channels] of little-endian float32, and in the metadata what was found with it. */
#ifndef GLCNN_TRAIN_ANOMALY_FILE_H
#define GLCNN_TRAIN_ANOMALY_FILE_H

#include "task/anomaly_bank.h"
#include "task/anomaly_patches.h"

struct anomaly_record {
    double threshold;        /* scores above it are anomalous */
    double quantile;         /* that the threshold was to be */
    uint32_t fitted;         /* pictures with patches to choose from */
    uint32_t held_out, rank; /* pictures whose scores the threshold is one of, and which */
    uint64_t seed;
};

/* Writes the patches' network, normalised as `saved` says, and the bank. */
bool anomaly_file_write(const char *path, const struct saved *saved, const struct patches *patches,
                        const struct bank *bank, const struct anomaly_record *record,
                        char error[GLCNN_ERROR_LENGTH]);

/* Reads what stands beside the network of a file that saved_read has read: *bank, to be released with
 * bank_free, and the threshold of *record. */
bool anomaly_file_read(const char *path, const struct saved *saved, struct bank *bank,
                       struct anomaly_record *record, char error[GLCNN_ERROR_LENGTH]);

#endif
