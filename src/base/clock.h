/* The time that has passed, for deadlines and measurements. */
#ifndef GLCNN_BASE_CLOCK_H
#define GLCNN_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* From a moment that stays the same while the process runs. */
static inline uint64_t clock_nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The same in seconds. May be called in a handler of a signal. */
static inline double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
