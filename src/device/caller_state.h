/* The state of a context that is the caller's: kept before a call of the library changes it, and put
 * back after that. Contexts of the library's own have nobody to notice. */
#ifndef GLCNN_CALLER_STATE_H
#define GLCNN_CALLER_STATE_H

#include <stdbool.h>

struct glcnn_device;

struct caller_state;
/* False without memory. NULL for a context of the library's own. */
bool caller_state_create(struct glcnn_device *device);

/* Around whatever binds anything, within each other too: the outermost pair keeps and puts back. In
 * between, no sampler object of the caller's is in the way of texture units. */
void caller_state_keep(struct glcnn_device *device);
void caller_state_put_back(struct glcnn_device *device);

#endif
