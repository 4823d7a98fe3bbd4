/* The time that has passed, for deadlines and measurements. */
#ifndef GLCNN_CLOCK_H
#define GLCNN_CLOCK_H

#include <stdint.h>
#include <time.h>

/* From a moment that stays the same while the process runs. */
static inline uint64_t clock_nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
