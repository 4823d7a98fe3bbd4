/* How fast a device is, where that matters: before the first pass of more work than any device may be
 * given at a time (dispatch_work.h). */
#ifndef GLCNN_SPEED_H
#define GLCNN_SPEED_H

#include "record/pass.h"

/* Finds device->dispatch_work, once, if the pass is of more work than that. Dispatches, so not
 * between the binding and the dispatch of a pass. Where the time cannot be taken the slowest device
 * is assumed, and the log says so; an error is a lost device. */
glcnn_status speed_measure(struct glcnn_device *device, const struct pass *pass);

#endif
