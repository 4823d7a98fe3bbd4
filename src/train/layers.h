/* Which layers of a model train. The others are frozen: their weights stay, they normalise by their
 * running statistics, and no gradient is made that nothing needs. */
#ifndef GLCNN_TRAIN_LAYERS_H
#define GLCNN_TRAIN_LAYERS_H

#include "task/model.h"

#define LAYERS_WORDS                                                                                \
    "  all        every layer\n"                                                                    \
    "  last       the layer that makes the scores; all of a head of segment, detect, keypoints\n"   \
    "  last:N     the last N convolutions and fully connected layers, and what normalises them\n"   \
    "  NAME,...   layers by their labels; block3* stands for all that begin so, and NAME:8-15 for " \
    "these of the layer's output channels, from a multiple of 4 on\n"

struct layers {
    uint32_t trained, count; /* filters with weights */
    size_t head;             /* the number of the first filter of the head, which "last" chooses */
    uint32_t backbone;       /* those before it that train */
    /* The images of frozen layers that those behind them read, without sizes: what comes before depends
     * only on the picture. A dropout in front of the first trained layer lies behind them. None:
     * nothing is frozen, the picture itself is read too, or there are more than FEATURES_MAX. */
    struct features cut;
};

/* Chooses by the words above, and settles it in the model's network: training styles, stops of
 * gradients, flags of normalisations. To be called before anything trains. False, and a message:
 * no such words, or no such layer. */
bool layers_choose(struct model *model, const char *words, struct layers *layers,
                   char error[GLCNN_ERROR_LENGTH]);

#endif
