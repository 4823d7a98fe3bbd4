/* Labels of pictures that were changed on their way to a network, drawn into these. */
#ifndef GLCNN_TASK_SAMPLE_LABELS_H
#define GLCNN_TASK_SAMPLE_LABELS_H

#include "model.h"

/* Draws into the pictures of a batch as runner->input made them, [height][width][3] of the form, `count` of
 * them, what the runner's task learns of each: boxes with names, the colours of masks, crosses. The runner
 * need not have more than task, device, form, batch and the input that has run. False: not enough memory, or
 * the device has the message. */
typedef bool sample_labels_drawer(struct runner *runner, const struct glcnn_data_batch *batch,
                                  uint32_t count, const char *const *names,
                                  uint8_t *const pixels[]);
/* Those of the tasks. */
sample_labels_drawer detect_draw_labels, keypoints_draw_labels, segment_draw_labels;
/* NULL: the task draws nothing. */
sample_labels_drawer *sample_labels_of(const struct task *task);

#endif
