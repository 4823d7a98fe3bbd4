/* A network of nets.h with what training and inference need around it: the loss, the nodes of its
 * gradient, and graphs with the images that they take.
 *
 * Functions that return false have left their sentence with the device. */
#ifndef GLCNN_TOOL_MODEL_H
#define GLCNN_TOOL_MODEL_H

#include "input.h"
#include "nets.h"

struct model {
    const struct net *net;
    struct form form;
    glcnn_device *device;
    glcnn_network *network;
    glcnn_image_node *image, *labels, *scores, *probabilities;
    glcnn_filter_node *loss;
};

/* Builds the network; its loss is the mean over batches of `batch`. Release with model_destroy,
 * after a failure too. */
bool model_create(glcnn_device *device, const struct net *net, const struct form *form,
                  uint32_t batch, struct model *model);
void model_destroy(struct model *model);

/* The learning rate of all layers from the next step on. */
void model_set_learning_rate(struct model *model, float rate);

/* A graph of a model, for batches of one size. */
struct runner {
    glcnn_device *device;
    glcnn_graph *graph;
    struct form form;
    uint32_t batch;
    glcnn_image_node *result, *scores; /* scores: of training alone */
    uint32_t values;                   /* of the result for a picture */
    glcnn_image *sources[2];
    struct input input; /* of runner_take */
};

/* Layers train by the data sources that they have. memory: bytes for intermediate images, 0 as many
 * as needed; clip_norm: see glcnn_graph_descriptor. Release with runner_destroy, after a failure
 * too. */
bool runner_create_training(struct model *model, uint32_t batch, uint64_t memory, float clip_norm,
                            struct runner *runner);
bool runner_create_inference(struct model *model, uint32_t batch, uint64_t memory,
                             struct runner *runner);
void runner_destroy(struct runner *runner);

/* How runner_run_batch is given its batches; for a runner that was just created. */
bool runner_take(struct runner *runner, const struct input_parameters *parameters);

bool runner_memory(struct runner *runner, struct glcnn_memory_plan *memory);
/* Runs one batch, images [batch][height][width][channels] and labels [batch][classes] or NULL, and
 * reads the result: losses [batch], or probabilities [batch][classes]. */
bool runner_run(struct runner *runner, const float *images, const float *labels, float *result);
/* The same of a batch of a loader, which its input augments and normalises. */
bool runner_run_batch(struct runner *runner, const struct glcnn_data_batch *batch,
                      const float *labels, float *result);
/* The scores [batch][classes] that the last training batch had before its step. */
bool runner_scores(const struct runner *runner, float *scores);

#endif
