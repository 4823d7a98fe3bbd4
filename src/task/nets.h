/* The networks that `glcnn train` knows, written with nodes: pictures of any form to features, and
 * these to a score for each class. */
#ifndef GLCNN_TASK_NETS_H
#define GLCNN_TASK_NETS_H

#include <glcnn/glcnn.h>

/* What goes in and comes out. */
struct form {
    uint32_t width, height, channels; /* of a picture */
    uint32_t classes; /* or what else the task has that are as many as its answers */
    uint32_t task;    /* task_number; 0: classify */
    uint32_t loss;    /* of the task's losses; 0: the default */
    uint32_t resize;  /* length of a picture's shorter side before it is cut; 0: as `fit` has it */
    uint32_t fit;     /* glcnn_data_fit: how pictures come to that size */
    uint32_t
        longer; /* the longer side that grids and maps are chosen by, where the network was trained
                         at another size; 0: its own */
};

/* An image within a network. */
struct feature {
    glcnn_image_node *image;
    uint32_t width, height, channels;
};

/* Features are maps of a network, the largest first, each made from the one before; or any images that go from one
 * network to another. */
#define FEATURES_MAX 6
struct features {
    const struct net *net; /* whose they are; NULL: of a file's network */
    struct feature at[FEATURES_MAX];
    uint32_t count;
};

/* Counts the values of one picture. */
size_t feature_values(const struct feature *feature);

struct net {
    const char *name;
    uint32_t least; /* width and height that it needs */
    /* It normalises nothing: values in 0 .. 1, which all are on one side of 0, drive its rectifiers to 0 for good
     * at the rates that suit the others, so its pictures are centred first. */
    bool needs_centred;
    void (*build)(glcnn_image_node *image, const struct form *form, struct features *features);
    /* A score for each class, of the last feature. */
    glcnn_image_node *(*classify)(const struct feature *last, const struct form *form);
};

struct features net_features(const struct net *net, glcnn_image_node *image,
                             const struct form *form);
/* A score for each class, as the features' net makes it. NULL: the network has failed. */
glcnn_image_node *net_classify(const struct features *features, const struct form *form);
/* Features, and a score for each class behind them. */
glcnn_image_node *net_build(const struct net *net, glcnn_image_node *image,
                            const struct form *form);
/* Layers that tasks add to networks: a convolution that keeps the size of its source; the same with
 * batch normalisation and a ReLU. */
glcnn_image_node *net_convolve(glcnn_image_node *source, unsigned size, unsigned inputs,
                               unsigned outputs);
glcnn_image_node *net_normalised(glcnn_image_node *source, unsigned size, unsigned inputs,
                                 unsigned outputs);

/* By name; NULL if there is none. */
const struct net *net_find(const char *name);
/* The side that a network's structure follows. */
uint32_t form_longer(const struct form *form);
/* True if pictures of this form are large enough for it. */
bool net_fits(const struct net *net, const struct form *form);
/* Number i; NULL beyond the last. */
const struct net *net_at(size_t i);

#endif
