/* The network that makes patches of pictures: a backbone up to one or two of its layers, the mean of each
 * feature over the 3x3 pixels around each pixel, of those that there are (PatchCore's locally aware
 * patches), the smaller map resized linearly to the grid of the larger one, and the channels of both side
 * by side. It is a network of its own, which a file has whole.
 *
 * Functions that return false have written a message. */
#ifndef GLCNN_TASK_ANOMALY_PATCHES_H
#define GLCNN_TASK_ANOMALY_PATCHES_H

#include "maps.h"
#include "saved.h"

#define PATCHES_OUTPUTS 2

struct patches {
    struct model whole; /* the backbone, of patches_cut only */
    struct model part;
    struct map outputs[PATCHES_OUTPUTS]; /* where the backbone is cut; of patches_cut only */
    size_t output_count;
    struct runner runner; /* pictures_take gives it pictures; runner_results has the patches */
    struct form grid;     /* of them: width, height, channels */
};

/* Reads a backbone from a file, whose head is `saved`, and cuts it behind the layers of these labels, or,
 * where `label_count` is 0, behind two: the deepest with a pixel for at most 8x8 pixels of the picture, and
 * the deepest with one for at most 16x16. Release with patches_destroy, after a failure too. */
bool patches_cut(const struct saved *saved, const char *path, glcnn_device *device,
                 const char *const *labels, size_t label_count, uint32_t batch,
                 struct patches *patches, char error[GLCNN_ERROR_LENGTH]);
/* The same from a file that has the network of patches. */
bool patches_open(const struct saved *saved, const char *path, glcnn_device *device, uint32_t batch,
                  struct patches *patches, char error[GLCNN_ERROR_LENGTH]);
void patches_destroy(struct patches *patches);

#endif
