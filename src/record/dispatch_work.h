/* How much work one dispatch may be. */
#ifndef GLCNN_DISPATCH_WORK_H
#define GLCNN_DISPATCH_WORK_H

#include "record/pass.h"

/* Operations that a pass takes, about. */
uint64_t pass_work(const struct pass *pass);
/* The same of one work group; pass->program must have been found. */
uint64_t pass_group_work(const struct pass *pass);

/* Finds device->dispatch_work, once, if the pass is of more work than any device may be given at a
 * time. Draws on the device, so not between the binding and the dispatch of a pass. Where the time
 * cannot be taken the slowest device is assumed, and the log says so; an error is a lost device. */
glcnn_status dispatch_work_measure(struct glcnn_device *device, const struct pass *pass);

/* Operations that one dispatch may take. */
uint64_t dispatch_work(const struct glcnn_device *device);

#endif
