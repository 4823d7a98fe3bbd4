/* Which memory barriers a pass needs. Every pass that is issued has a serial number, and what it
 * reads and writes keeps the number of its last use (device/device.h). */
#ifndef GLCNN_HAZARDS_H
#define GLCNN_HAZARDS_H

#include "record/pass.h"

/* Barriers for device_barrier, a mask. A read needs one behind an earlier write, and a write behind
 * earlier reads and writes, by passes that were issued behind the last barrier of that kind. */
unsigned hazards_before(struct glcnn_device *device, const struct pass *pass);

/* The pass was issued: gives it the next serial number, and that to all that it uses. */
void hazards_mark(struct glcnn_device *device, const struct pass *pass);

#endif
