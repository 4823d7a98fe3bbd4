/* How much work one dispatch may be. */
#ifndef GLCNN_DISPATCH_WORK_H
#define GLCNN_DISPATCH_WORK_H

#include "record/pass.h"

#define LEAST_DISPATCH_WORK ((uint64_t)1 << 28) /* of any device: 50 ms at the 5 Gop/s of a V3D */

/* Operations that a pass takes, about. */
uint64_t pass_work(const struct pass *pass);
/* The same of one work group; pass->issue.program must have been found. */
uint64_t pass_group_work(const struct pass *pass);

/* Operations that one dispatch may take. */
uint64_t dispatch_work(const struct glcnn_device *device);

#endif
