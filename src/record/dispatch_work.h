/* How much work one dispatch may be. */
#ifndef GLCNN_DISPATCH_WORK_H
#define GLCNN_DISPATCH_WORK_H

#include "record/pass.h"

/* Of any device: 50 ms at the 5 Gop/s and the 2.7 GB/s of a V3D. */
#define LEAST_DISPATCH_WORK  ((uint64_t)1 << 28)
#define LEAST_DISPATCH_BYTES ((uint64_t)1 << 27)

/* Operations that a pass takes, about. */
uint64_t pass_work(const struct pass *pass);
/* The same of one work group; pass->issue.program must have been found. */
uint64_t pass_group_work(const struct pass *pass);

/* Bytes of all that a pass binds, each once. */
uint64_t pass_bytes(const struct pass *pass);

/* Operations that one dispatch may take. */
uint64_t dispatch_work(const struct glcnn_device *device);
/* Work groups of a pass that has so many in all that one dispatch may run: within the operations and
 * within the bytes that the device is given at a time. */
uint64_t dispatch_groups(const struct glcnn_device *device, const struct pass *pass,
                         uint64_t groups);

#endif
