/* Arrays that grow. */
#ifndef GLCNN_BASE_ARRAY_H
#define GLCNN_BASE_ARRAY_H

#include <stddef.h>

/* Room for one more item behind the `count` that an array of `room` items has: returns `items`, or where it is full an
 * array of twice the room in place of it, and sets *room. Each item has `size` bytes. NULL: there is not enough memory,
 * and the array is as it was. */
void *array_grow(void *items, size_t count, size_t *room, size_t size);

#endif
