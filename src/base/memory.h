/* Tells how much memory this process can still have. */
#ifndef GLCNN_BASE_MEMORY_H
#define GLCNN_BASE_MEMORY_H

#include <stdint.h>

/* Bytes that are free on the machine, which boards' GPUs and software devices compute in too, or that
 * RLIMIT_AS allows this process if that is less; UINT64_MAX: neither is known. */
uint64_t memory_free(void);

#endif
