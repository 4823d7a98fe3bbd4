/* The one place where limits are read. */
#ifndef GLCNN_LIMITS_H
#define GLCNN_LIMITS_H

#include "glcnn/device.h"
#include "device/gl.h"

/* Reads the driver's limits, or clamps them to the OpenGL ES 3.1 minimum when `clamp`. One that the
 * driver gives an error or 0 for is that minimum, too; returns how many these were. */
unsigned limits_read(const struct gl *gl, bool clamp, struct glcnn_limits *limits);

/* GLCNN_LIMITS=min in the environment. Any other value is an error named in *unknown. */
bool limits_clamped_by_environment(const char **unknown);

#endif
