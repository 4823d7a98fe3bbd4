/* Reading and writing the arrays of a reference.
 *
 * Room: Each family in double precision, written from the formulas of the specification, and the
 * cases of its self-check. Includes kernels/ and the rooms below it, for what a family's arguments
 * and parameters are; no planner is called. */
#ifndef GLCNN_REFERENCE_ROOM_H
#define GLCNN_REFERENCE_ROOM_H

#include "encode/reference.h"

/* Element of a tensor; 0 outside. */
double tensor_get(const struct tensor *tensor, uint32_t n, uint32_t c, int32_t y, int32_t x);
double *tensor_at(const struct tensor *tensor, uint32_t n, uint32_t c, int32_t y, int32_t x);

#endif
