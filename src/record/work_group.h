/* The size of a pass's work groups. */
#ifndef GLCNN_WORK_GROUP_H
#define GLCNN_WORK_GROUP_H

#include "record/pass.h"

/* Sets pass->local where it is 0, from the grid and from what suits such a device and pass, and
 * keeps it within the limits. */
void work_group_choose(struct pass *pass, const struct glcnn_limits *limits,
                       const struct glcnn_device_traits *traits);

#endif
