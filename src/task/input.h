/* How pictures come to a network: they go up as the data has them, bytes as bytes, and are
 * augmented and normalised on the device, by a graph of their own. So training, validation and
 * prediction share one network, whose file knows nothing of it. */
#ifndef GLCNN_TASK_INPUT_H
#define GLCNN_TASK_INPUT_H

#include <glcnn/data.h>

#include "augment.h"
#include "mix.h"
#include "mosaic.h"
#include "nets.h"

struct input_parameters {
    bool bytes;                    /* batches are bytes, of which 255 stands for 1.0 */
    const float *mean, *deviation; /* of each channel, as glcnn_data_loader_parameters has them */
    const struct augment *augment; /* before that; NULL: none */
    uint64_t seed;                 /* of augment */
};

enum {
    INPUT_PICTURES,
    INPUT_NUMBERS,
    INPUT_OTHERS,
    INPUT_OTHER_NUMBERS,
    INPUT_MASK,
    INPUT_SOURCES
};

/* All zero: none. */
struct input {
    glcnn_network *network; /* NULL where pictures are to stay as they are */
    glcnn_graph *graph;
    glcnn_image_node *result;
    /* What the graph takes, in that order; NULL: not where this is done. */
    glcnn_image *sources[INPUT_SOURCES];
    struct mix mix;       /* all zero where pictures are not mixed */
    struct mosaic mosaic; /* all zero where they are not joined */
    char *others;         /* a batch's pictures, the last first */
    uint32_t batch;
    glcnn_device *device;
    struct augment augment; /* what is asked for */
    uint64_t seed;
    /* Labels that are images, made when they are first asked for. */
    glcnn_network *label_network;
    glcnn_graph *label_graph;
    glcnn_image_node *label_result;
};

/* For batches of one size. Release with input_destroy, after a failure too. False: the device has
 * the message. */
bool input_create(glcnn_device *device, const struct form *form, uint32_t batch,
                  const struct input_parameters *parameters, struct input *input);
void input_destroy(struct input *input);

/* Of what input_run gives. */
glcnn_channel_format input_format(const struct input *input);

/* The values of a batch's pictures, joined where that is asked for: the batch's or the input's. */
const void *input_join(struct input *input, const struct glcnn_data_batch *batch);

/* Uploads a batch, interleaved and not normalised, and begins what is done to it. What the network
 * is to take belongs to the input, until the next run. NULL: the device has the message. */
glcnn_image *input_run(struct input *input, const struct glcnn_data_batch *batch);

/* Labels of the batch that input_run was given last, images of the pictures' size, as the pictures'
 * geometry was changed: itself, where nothing was, or what belongs to the input until the next call.
 * Outside of a picture labels are 0. NULL: the device has the message. */
glcnn_image *input_turn(struct input *input, glcnn_image *labels);

#endif
