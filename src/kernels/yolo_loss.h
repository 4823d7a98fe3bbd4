/* What the passes and the reference of the loss with anchor boxes share. */
#ifndef GLCNN_KERNELS_YOLO_LOSS_INTERNAL_H
#define GLCNN_KERNELS_YOLO_LOSS_INTERNAL_H

#include "glcnn/kernels/yolo_loss.h"

#include "kernels/loss.h"

/* The argument behind those of loss.h. */
enum { ANCHOR_BOXES = LOSS + 1 };

/* Channels of an anchor box before those of its classes. */
enum { BOX_X, BOX_Y, BOX_W, BOX_H, BOX_CONFIDENCE, BOX_CLASSES };

/* Of each anchor box, with its classes. */
uint32_t yolo_loss_box_channels(const struct operation *operation);
/* A part as a loss by itself. */
struct glcnn_loss_parameters yolo_loss_part(const struct glcnn_yolo_loss_part *part,
                                            const struct operation *operation);

#endif
