/* A network that classifies pictures, of nets.h or of a file, with what training and inference need
 * around it: the loss, the nodes of its gradient, and graphs with the images that they take.
 *
 * Functions that return false have left their message with the device. */
#ifndef GLCNN_TOOL_MODEL_H
#define GLCNN_TOOL_MODEL_H

#include "input.h"
#include "nets.h"

/* Why a call of this room failed: the device's message, or that there is no memory where the device
 * was not asked. Never "". */
const char *model_failure(const glcnn_device *device);

struct model {
    const struct net *net; /* NULL: of a file */
    struct form form;
    glcnn_device *device;
    glcnn_network *network;
    glcnn_image_node *image, *labels, *scores, *probabilities;
    glcnn_filter_node *loss, *head; /* head: as model_head has it, only of a file's network */
    uint8_t *description; /* of glcnn_network_serialize, without loss, labels and weights */
    size_t description_size;
};

/* Builds the network; its loss is the mean over batches of `batch`. Release with model_destroy,
 * after a failure too. */
bool model_create(glcnn_device *device, const struct net *net, const struct form *form,
                  uint32_t batch, struct model *model);
/* The same of a network that there is, which the model takes over, also on failure: it has one
 * input, and one image that no filter reads, the scores or their soft max. False: it is none, with a
 * message. */
bool model_open(glcnn_network *network, const struct form *form, uint32_t batch,
                struct model *model, char error[GLCNN_ERROR_LENGTH]);
/* The same of a network that is not a classifier, only to be written: without a loss. */
bool model_keep(glcnn_network *network, const struct form *form, uint32_t batch,
                struct model *model, char error[GLCNN_ERROR_LENGTH]);
void model_destroy(struct model *model);

/* The layer that makes the scores, but for filters without weights behind it: a convolution or a
 * fully connected layer. NULL: there is none such. */
glcnn_filter_node *model_head(const glcnn_network *network);

/* Does the filter drop values at random while a network is trained? */
bool model_filter_drops(glcnn_filter_node *filter);
/* Has the filter vectors that training changes? */
bool model_filter_has_weights(glcnn_filter_node *filter);

/* A part of a model as a model of its own, with the same kernels: weights trained in one are those of
 * the other. */
struct model_part {
    glcnn_image_node *from, *to; /* images of the model; from NULL: its own; to NULL: its scores */
    struct form form;            /* of `from`, with the values of `to` in place of classes */
    bool drops;                  /* with dropout, as in training */
};
/* With `to` the part has neither labels nor loss, and its probabilities are that image. `whole` must
 * outlive the part. */
bool model_create_part(const struct model *whole, const struct model_part *what, uint32_t batch,
                       struct model *part);
/* Has it a dropout? Inference is then a part that does without. */
bool model_drops(const struct model *model);

/* The learning rate of all layers from the next step on. */
void model_set_learning_rate(struct model *model, float rate);

/* Finds the images of a batch. NULL: a message in `error`, or "" there and one of the device. */
typedef glcnn_image *(*runner_finder)(void *user, const struct glcnn_data_batch *batch,
                                      char error[GLCNN_ERROR_LENGTH]);

/* A graph of a model, for batches of one size. */
struct runner {
    glcnn_device *device;
    glcnn_graph *graph;
    struct form form;
    uint32_t batch;
    glcnn_image_node *result, *scores; /* scores: of training only */
    uint32_t values;                   /* of the result for a picture */
    struct model plain;                /* of inference without the model's dropout, if it has one */
    glcnn_image *sources[2];
    struct input input; /* of runner_take */
    /* Of runner_take_from: where images of a batch come from. */
    runner_finder find;
    void *user;
    char error[GLCNN_ERROR_LENGTH]; /* of the finder; "": the device has the message */
};

/* Layers train by the data sources that they have. training: of the graph's descriptor all but
 * results; NULL: its defaults. Release with runner_destroy, after a failure too. */
bool runner_create_training(struct model *model, uint32_t batch,
                            const struct glcnn_graph_descriptor *training, struct runner *runner);
/* Dropout is left out. */
bool runner_create_inference(struct model *model, uint32_t batch, uint64_t memory,
                             struct runner *runner);
void runner_destroy(struct runner *runner);

/* How runner_run_batch is given its batches; for a runner that was just created. */
bool runner_take(struct runner *runner, const struct input_parameters *parameters);
/* The same, by a function that finds the images of a batch. */
void runner_take_from(struct runner *runner, runner_finder find, void *user);
/* Why the last run failed. */
const char *runner_error(const struct runner *runner);

bool runner_memory(struct runner *runner, struct glcnn_memory_plan *memory);
/* Runs one batch, images [batch][height][width][channels] and classes [batch] or NULL, and
 * reads the result: losses [batch], or probabilities [batch][classes]. */
bool runner_run(struct runner *runner, const float *images, const uint32_t *labels, float *result);
/* The same of a batch of a loader, which its input augments and normalises. */
bool runner_run_batch(struct runner *runner, const struct glcnn_data_batch *batch,
                      const uint32_t *labels, float *result);
/* Runs a batch of a loader without reading the result, which belongs to the runner until its next
 * run. NULL: the device has the message. */
glcnn_image *runner_result(struct runner *runner, const struct glcnn_data_batch *batch);
/* Writes images [batch][height][width][channels] into what a finder may return. NULL: the device has
 * the message. */
glcnn_image *runner_write(struct runner *runner, const float *images);
/* Extent and channels of the result of inference, which are known once a batch of zeros has run. */
bool runner_extent(struct runner *runner, struct form *form);
/* The scores [batch][classes] that the last training batch had before its step. */
bool runner_scores(const struct runner *runner, float *scores);

#endif
