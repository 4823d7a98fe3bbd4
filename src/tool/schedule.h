/* How the learning rate goes on from its start. */
#ifndef GLCNN_TOOL_SCHEDULE_H
#define GLCNN_TOOL_SCHEDULE_H

#include <stdint.h>

struct schedule_settings {
    double rate;    /* at the start, or at the end of the warm-up */
    double decay;   /* what an epoch leaves of it: exponential and step */
    double warmup;  /* epochs that it rises in, from nearly 0; 0: none */
    double epochs;  /* of the whole run: cosine ends at 0 there */
    uint64_t steps; /* of an epoch */
};

/* With t = step / steps, in epochs, what the rate is times:
 *   exponential   decay^t
 *   step          decay^floor(t)
 *   cosine        (1 + cos(pi t / epochs)) / 2
 *   constant      1
 * and, while (step + 1) / steps < warmup, that part of warmup too. */
struct schedule {
    const char *name;
    double (*factor)(const struct schedule_settings *settings, double t);
};

/* All of them; a NULL name ends. */
extern const struct schedule schedules[];

float schedule_rate(const struct schedule *schedule, const struct schedule_settings *settings,
                    uint64_t step);

#endif
