/* Augmentation as text, "flip,crop=4,rotate=15", and the nodes that it stands for. */
#ifndef GLCNN_TASK_AUGMENT_H
#define GLCNN_TASK_AUGMENT_H

#include <glcnn/glcnn.h>

/* All zero: none. */
struct augment {
    struct glcnn_augment_geometry_parameters geometry;
    struct glcnn_augment_color_parameters color;
    float mixup, cutmix; /* mix.h; 0: none */
    bool mosaic;         /* mosaic.h */
};

/* The words, one a line with their values' ranges: for --help. */
/* clang-format off */
#define AUGMENT_WORDS                                                                             \
    "  flip                 mirrored left to right, every second picture\n"                       \
    "  flip_vertical        mirrored top to bottom, every second picture\n"                       \
    "  crop=PIXELS          shifted by up to 4096 pixels along each axis; what is missing is 0\n" \
    "  rotate=DEGREES       turned by up to 180 degrees\n"                                        \
    "  scale=PART           enlarged or reduced by up to a part of 0.5\n"                         \
    "  reflect              what is missing is the picture, reflected at its border\n"            \
    "  brightness=PART      lighter or darker by up to 1, the whole range of values\n"            \
    "  contrast=PART        spread or drawn together by up to a part of 1\n"                      \
    "  hue=DEGREES          colours turned by up to 180 degrees: three channels\n"                \
    "  saturation=PART      colours stronger or paler by up to a part of 1: three channels\n"     \
    "  gain=PART            each channel stronger or weaker by up to a part of 1\n"               \
    "  noise=DEVIATION      values changed at random, with a standard deviation of up to 1\n"     \
    "  cutout=PIXELS        a square of zeros of up to 4096 pixels a side\n"                     \
    "  mixup=ALPHA          blended with another picture of the batch, labels too\n"             \
    "  cutmix=ALPHA         a rectangle of another picture in it, labels by area; of both ALPHA is up " \
    "to 100, and the other picture's share is from Beta(ALPHA, ALPHA)\n"                          \
    "  mosaic               parts of four pictures of the batch, with their boxes: detect alone\n"
/* clang-format on */

/* Reads words that commas part, each once; an empty text is none. False, with a message in `error`
 * that begins with the word, where one is not known or its value is out of range; *augment is then
 * as it was. */
bool augment_read(const char *text, struct augment *augment, char error[GLCNN_ERROR_LENGTH]);

/* Is anything asked for? */
bool augment_is_asked(const struct augment *augment);
/* Anything that moves pixels? */
bool augment_asks_geometry(const struct augment *augment);
/* Of single pictures? */
bool augment_is_single(const struct augment *augment);
/* Are pictures mixed? */
bool augment_mixes(const struct augment *augment);

/* Where random numbers for an image begin that follow from these alone. */
uint64_t augment_random(uint64_t seed, uint64_t epoch, uint32_t number);

/* Nodes of what is asked for of single pictures, the geometry first, behind `source`: their result, which stops
 * gradients, or `source` where nothing is. `image_numbers` is an input of the network, to be given
 * augment_number's bytes of each image of a batch. NULL on failure, see glcnn/node.h. */
glcnn_image_node *augment_nodes(const struct augment *augment, uint64_t seed,
                                glcnn_image_node *source, glcnn_image_node *image_numbers);

#define AUGMENT_CHANNELS 8 /* of image_numbers */
/* What a Unorm8 image of image_numbers holds for image `number` of the data set. */
void augment_number(uint32_t number, uint32_t epoch, uint8_t bytes[AUGMENT_CHANNELS]);

#endif
