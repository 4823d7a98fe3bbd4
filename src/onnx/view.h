/* Digits of images: which numbers of a tensor lie where, without a model. */
#ifndef GLCNN_ONNX_VIEW_H
#define GLCNN_ONNX_VIEW_H

#include "onnx/onnx.h"

/* The batch among a tensor's axes: its images follow one another every `after` numbers. after 0: the
 * tensor is the same for each image. */
struct batch {
    int64_t images, after;
};

struct batch view_batch(const struct image *image);
/* So many images, whose numbers follow one another. */
struct batch view_leading_batch(const struct shape *shape, int64_t images);
/* The same batch in a tensor of another shape, of as many axes, that is broadcast from the first. */
struct batch view_broadcast_batch(struct batch batch, const struct shape *from,
                                  const struct shape *to);
/* The axis of the tensor that the batch is, or is a part of; -1: none. */
int view_batch_axis(struct batch batch, const struct shape *shape);
/* An image of which each axis of the tensor lies along that axis, but for the batch. False: the batch
 * is no part of the axes. */
bool view_arranged(const struct shape *shape, struct batch batch,
                   const uint8_t axis[GLCNN_ONNX_RANK], struct image *image);
/* Does every number lie in the same place? */
bool view_is(const struct image *a, const struct image *b);
/* How far numbers that are neighbours along the axis are apart, counted channels first, row-major; AXES: 0. */
int64_t view_step(const struct image *image, uint8_t axis);
/* Adds axes to the layout of a vector whose numbers are rows of pixels of channels: those of the digits,
 * but for the batch. False: it has no room for them. */
bool view_lay_out(const struct image *image, struct layout *layout);
/* Writes the digits so that those of axis i of the tensor end before end[i]. False: they do not split so. */
bool view_split(struct image *image, const struct shape *shape, uint32_t end[GLCNN_ONNX_RANK]);
/* The order of the image's axes in the tensor, where each is one digit; false otherwise. */
bool view_order(const struct image *image, uint8_t order[AXES]);
/* Repeats numbers along axes of one number up to the sizes of `to`; the batch, where it is one of those,
 * becomes the image's. False: the digits do not split so. */
bool view_repeat(struct image *image, const struct shape *shape, const struct shape *to,
                 struct batch batch);
/* Axes that only repeat numbers have one number, in the shape too. */
void view_drop_repeats(struct image *image, struct shape *shape);
/* Is some number of the image several of the tensor? */
bool view_repeats(const struct image *image);
/* Puts what was split so in another order: axis i of the result is axis order[i]. */
void view_permute(struct image *image, const uint32_t end[GLCNN_ONNX_RANK], const int64_t order[],
                  uint32_t rank);
/* Writes what was split in as few digits as can be. */
void view_merge(struct image *image);

/* An axis of a view: numbers that follow one another at these steps in two images, each counted
 * channels first, row-major. */
struct run {
    int64_t size, from, to;
};

/* How the numbers of an image get to their places in another one, those of the batch left out: runs, the
 * slowest in the other one first. Gives their number, at most DIGITS; 0: sizes do not go together, or
 * the batch is elsewhere. One number is one run. */
size_t view_runs(const struct image *image, const struct image *other, struct run runs[2 * DIGITS]);

#endif
