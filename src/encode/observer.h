/* The checks of GLCNN_DEBUG that look at what kernels compute: nan and verify. */
#ifndef GLCNN_OBSERVER_H
#define GLCNN_OBSERVER_H

#include "encode/descriptor.h"

/* Has the passes from `first` on, those of one encode, observed as GLCNN_DEBUG asks. */
void observe(const struct operation *operation, struct plan *plan, size_t first);

#endif
