/* A network for a task on pictures, of nets.h or of a file, with what training and inference need
 * around it: the loss, the nodes of its gradient, and graphs with the images that they take.
 *
 * Functions that return false have left their message with the device. */
#ifndef GLCNN_TASK_MODEL_H
#define GLCNN_TASK_MODEL_H

#include "input.h"
#include "nets.h"
#include "targets.h"
#include "task.h"

/* Why a call of this room failed: the device's message, or that there is no memory where the device
 * was not asked. Never "". */
const char *model_failure(const glcnn_device *device);

/* Images of labels and losses of a task. */
#define LABELS_MAX 4
#define LOSSES_MAX 2

#define MODEL_BACKBONE 512 /* characters, and a zero */

struct model {
    const struct net *net; /* NULL: of a file */
    struct form form;
    glcnn_device *device;
    glcnn_network *network;
    struct features
        images; /* what it takes: its pictures, or what the layers before a part make of them */
    struct features ends; /* what a part makes that ends before the scores; count 0: it has them */
    /* scores: of the loss; probabilities: what the network answers. */
    glcnn_image_node *scores, *probabilities;
    glcnn_image_node *labels[LABELS_MAX];
    glcnn_filter_node *losses[LOSSES_MAX];
    uint32_t label_count, loss_count;
    /* Regress: scale and shift of answers, from units of deviations to those of the data. NULL
     * otherwise. The network has them. */
    glcnn_kernel *units[2];
    glcnn_filter_node *head; /* as model_head has it */
    char backbone
        [MODEL_BACKBONE]; /* of backbone_open: what the new head reads, for people; else "" */
    const char *lacks;    /* a sentence on what the network of a file lacks for its task, or NULL */
    uint8_t *description; /* of glcnn_network_serialize, without loss, labels and weights */
    size_t description_size;
};

/* Builds the network; its loss is the mean over batches of `batch`. Release with model_destroy,
 * after a failure too. */
bool model_create(glcnn_device *device, const struct net *net, const struct form *form,
                  uint32_t batch, struct model *model);
/* The same of a network that there is, which the model takes over, also on failure: it has one
 * input, and one image that no filter reads, what its task answers. False: it is none, with a
 * message. */
bool model_open(glcnn_network *network, const struct form *form, uint32_t batch,
                struct model *model, char error[GLCNN_ERROR_LENGTH]);
/* The same of a network that is not a classifier, to be written or taken parts of: without scores and
 * loss; it has no images where it has other than one input. */
bool model_keep(glcnn_network *network, const struct form *form, uint32_t batch,
                struct model *model, char error[GLCNN_ERROR_LENGTH]);
void model_destroy(struct model *model);

/* Adds what the form's task has behind features, with labels of its own where the task says so: what its
 * loss is computed of. NULL: the device has the message. */
glcnn_image_node *model_add_head(const glcnn_network *network, const struct features *features,
                                 const struct form *form);

/* For tasks: another image of labels, the next that task->labels describes, and another loss, of which
 * a picture's is the sum; `weight` as glcnn_loss_parameters has it, `label_weights` NULL for 1. False:
 * the device has the message. */
glcnn_image_node *model_add_labels(struct model *model);
bool model_add_loss(struct model *model, glcnn_image_node *predictions, glcnn_image_node *labels,
                    glcnn_image_node *label_weights, glcnn_loss_type type, double weight);
/* For tasks whose answers are a soft max: of a network that ends with one these are the
 * probabilities, and the scores what is before. */
bool model_take_soft_max(struct model *model);
glcnn_image_node *model_soft_max(const struct model *model);
/* For regress: what the two units hold, [2][count]. False: they are of another number of values, or
 * the device has the message. */
bool model_read_units(glcnn_kernel *const units[2], uint32_t count, float *values);

/* The layer that makes the scores, but for filters without weights behind it: a convolution or a
 * fully connected layer. NULL: there is none such. */
glcnn_filter_node *model_head(const glcnn_network *network);

/* Does the filter drop values at random while a network is trained? */
bool model_filter_drops(glcnn_filter_node *filter);
/* Is it one of that kernel? */
bool model_filter_is(glcnn_filter_node *filter, const char *kernel);
size_t model_filter_count(const glcnn_network *network);
/* Has the filter vectors that training changes? */
bool model_filter_has_weights(glcnn_filter_node *filter);

/* Vectors of kernels that training changes: the first are stepped by optimizers, the others are
 * statistics. */
#define MODEL_STEPPED 6
#define MODEL_VECTORS 8
extern const char *const model_vectors[MODEL_VECTORS];
/* The kernel of filter number `filter` where it trains, and no filter before it has the same; else
 * NULL. */
glcnn_kernel *model_trained_kernel(const glcnn_network *network, size_t filter);

/* A rounding makes a value int8: a whole multiple of a scale, held within what 8 bits hold. */
struct model_rounding {
    const char *label; /* of the filter that makes it; NULL: it is the model's image */
    float scale;
    int32_t zero_point;
};

/* A part of a model as a model of its own, with the same kernels: weights trained in one are those of
 * the other. */
struct model_part {
    /* Images of the model, those of `from` with their sizes; from none: its own; to none: its scores. */
    struct features from, to;
    struct form form;                       /* of the pictures */
    bool drops;                             /* with dropout, as in training */
    const struct model_rounding *roundings; /* rounding_count of them */
    size_t rounding_count;
};
/* The part has the filters alone that `to` is made of. With `to` it has neither labels nor loss, and its
 * probabilities are the first of these images. `whole` must outlive the part. */
bool model_create_part(const struct model *whole, const struct model_part *what, uint32_t batch,
                       struct model *part);
/* Has it a dropout? Inference is then a part that does without. */
bool model_drops(const struct model *model);

/* Learning rates from the next step on: that of the filters from number `head` on, and that of those before
 * it. */
struct learning_rates {
    float head, backbone;
};
void model_set_learning_rates(const struct model *model, size_t head,
                              const struct learning_rates *rates);

/* Replaces a number by its sum over all that train on parts of a batch. False: a message in `error`. */
typedef bool (*runner_summer)(void *user, double *number, char error[GLCNN_ERROR_LENGTH]);

/* Finds what the model takes of a batch, in the order of model->images. False: a message in `error`, or "" there and
 * one of the device. */
typedef bool (*runner_finder)(void *user, const struct glcnn_data_batch *batch,
                              glcnn_image *images[FEATURES_MAX], char error[GLCNN_ERROR_LENGTH]);

/* A graph of a model, for batches of one size. */
struct runner {
    const struct task *task;
    glcnn_device *device;
    glcnn_graph *graph;
    struct form form;
    uint32_t batch;
    glcnn_image_node *results[FEATURES_MAX]; /* losses, or the answer, or what a part makes */
    uint32_t result_count;
    float weights[LOSSES_MAX];         /* that the task gave its losses; of training only */
    glcnn_image_node *scores;          /* of training only */
    size_t values;                     /* of a result for a picture */
    glcnn_kernel *units[2];            /* the model's */
    float *unit_values;                /* of these, once they were asked for */
    struct model plain;                /* of inference without the model's dropout, if it has one */
    struct features taken;             /* the model's images */
    glcnn_image *images[FEATURES_MAX]; /* of runner_write */
    uint32_t label_count;              /* of training only */
    glcnn_image *labels[LABELS_MAX];
    glcnn_image
        *given_labels[LABELS_MAX]; /* what the graph takes for them: these, or made of them */
    /* Each source of the graph is an image, by its number, or labels, whose numbers come behind the images'. */
    uint32_t order[FEATURES_MAX + LABELS_MAX], source_count;
    struct input input; /* of runner_take */
    /* Of runner_set_targets, for classifiers; NULL: labels are classes. */
    const struct targets *targets;
    float *rows; /* [batch][classes] */
    const uint32_t
        *partners; /* of keypoints: which ones change places in a mirrored picture; NULL: none */
    const struct mix *mix; /* that pictures come by; NULL: they are not mixed */
    /* Of runner_take_from: where images of a batch come from. */
    runner_finder find;
    void *user;
    /* Of runner_sum_with; NULL: the batch is whole. */
    runner_summer sum;
    void *sum_user;
    char error[GLCNN_ERROR_LENGTH]; /* of both; "": the device has the message */
};

/* Layers train by the data sources that they have. training: of the graph's descriptor all but
 * results; NULL: its defaults. Release with runner_destroy, after a failure too. */
bool runner_create_training(struct model *model, uint32_t batch,
                            const struct glcnn_graph_descriptor *training, struct runner *runner);
/* Dropout is left out. */
bool runner_create_inference(struct model *model, uint32_t batch, uint64_t memory,
                             struct runner *runner);
void runner_destroy(struct runner *runner);

/* What labels stand for in a runner that trains; the targets must outlive it. Needed where pictures
 * are mixed. False: not enough memory. */
bool runner_set_targets(struct runner *runner, const struct targets *targets);
/* Sets how runner_run_batch is given its batches from now on. */
bool runner_take(struct runner *runner, const struct input_parameters *parameters);
/* The same, by a function that finds the images of a batch. */
void runner_take_from(struct runner *runner, runner_finder find, void *user);
/* What labels are weighted by is counted over the whole batch, by that function, where the runner has a
 * part of it. */
void runner_sum_with(struct runner *runner, runner_summer sum, void *user);
/* For tasks: a number of this part becomes that of the whole batch. */
bool runner_sum(struct runner *runner, double *number);
/* Multiplies the weights that the task gave its losses, from the next step on. */
void runner_scale_losses(struct runner *runner, double factor);
/* Regress: deviation and mean of each number, [2][classes]. NULL: the device has the message. */
const float *runner_units(struct runner *runner);
/* Why the last run failed. */
const char *runner_error(const struct runner *runner);

bool runner_memory(struct runner *runner, struct glcnn_memory_plan *memory);
/* Runs one batch, images [batch][height][width][channels], where the model takes several one behind another, and reads
 * the result: losses [batch] with the labels of `labels`, or where that is NULL what the task answers,
 * [batch][task->values]. */
bool runner_run(struct runner *runner, const float *images, const struct glcnn_data_batch *labels,
                float *result);
/* The same of a batch of a loader, which its input augments and normalises; its labels only where
 * the runner trains. */
bool runner_run_batch(struct runner *runner, const struct glcnn_data_batch *batch, bool trains,
                      float *result);
/* Runs the graph once more on what it was given last, without reading the result. */
bool runner_repeat(struct runner *runner);
/* Runs a batch of a loader without reading the results, as many as the model has ends and else one, which belong
 * to the runner until its next run. False: the device has the message. */
bool runner_results(struct runner *runner, const struct glcnn_data_batch *batch,
                    glcnn_image **results);
/* Writes values, as runner_run takes them, into images that a finder may give. False: the device has the
 * message. */
bool runner_write(struct runner *runner, const float *values, glcnn_image *images[FEATURES_MAX]);
/* The sizes of the results of inference, which are known once a batch of zeros has run, into as many features. */
bool runner_sizes(struct runner *runner, struct feature *results);
/* The scores [batch][classes] that the last training batch had before its step. */
bool runner_scores(const struct runner *runner, float *scores);

#endif
