/* How far a measure of pictures may be off, since other pictures of the same kind would have given another
 * one: the bootstrap's percentile interval (Efron 1979). As many pictures as there are are drawn from them, with
 * replacement, a thousand times; 95 of 100 such measures lie in the interval.
 *
 * A measure that all draws agree on at 0 or 1 has the rule of three for its other end: what was not seen in
 * n pictures may still have a share of 3 / n (Hanley, Lippman-Hand 1983). */
#ifndef GLCNN_TASK_INTERVAL_H
#define GLCNN_TASK_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERVAL_SHARE 0.95

struct interval {
    double low, high;
    uint32_t draws; /* that it is of; 0: there is no interval */
};

/* The measure of pictures of which number i was drawn times[i] times; NaN: it is not defined. */
typedef double (*interval_measure)(void *context, const uint32_t *times);

/* The interval of a measure, which goes through `work` numbers for each draw: of many there are fewer
 * draws, so that it takes a second or two. The seed decides what is drawn. There is no interval of fewer than two
 * pictures, of so many numbers that too few draws are left, and where the measure is not defined for half of the
 * draws. False: not enough memory. */
bool interval_find(uint32_t pictures, size_t work, uint64_t seed, interval_measure measure,
                   void *context, struct interval *interval);

#endif
