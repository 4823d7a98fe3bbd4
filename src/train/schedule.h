/* How the learning rate goes on from its start. */
#ifndef GLCNN_TRAIN_SCHEDULE_H
#define GLCNN_TRAIN_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_LEFT                                                                              \
    0.3 /* of the rate at the end of a run, where nobody says what an epoch leaves */

struct schedule_settings {
    const struct schedule *schedule;
    double rate;    /* at the start, or at the end of the warm-up */
    double decay;   /* what an epoch leaves of it: exponential and step; 0: as SCHEDULE_LEFT asks */
    double warmup;  /* epochs that it rises in, from nearly 0; 0: none */
    double epochs;  /* of the whole run: cosine ends at 0 there */
    uint64_t steps; /* of an epoch */
};

/* With t = step / steps, in epochs, and d = decay, or SCHEDULE_LEFT^(1 / epochs), what the rate is
 * times:
 *   cosine        (1 + cos(pi t / epochs)) / 2
 *   exponential   d^t
 *   step          d^floor(t)
 *   constant      1
 * and, while (step + 1) / steps < warmup, that part of warmup too. */
struct schedule {
    const char *name;
    double (*factor)(const struct schedule_settings *settings, double t);
    bool decays; /* by `decay` */
};

/* All of them; a NULL name ends. The first is the default. */
extern const struct schedule schedules[];

float schedule_rate(const struct schedule_settings *settings, uint64_t step);

/* "cosine over 10 epochs, 0.5 epochs of warm-up, learning rate 0.02" */
void schedule_describe(const struct schedule_settings *settings, char *text, size_t size);

#endif
