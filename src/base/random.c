/* splitmix64, and what is drawn from it. */
#include "base/random.h"

#include <math.h>

uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static float uniform(uint64_t *state, float bound)
{
    return bound * (2.0f * (float)(random_next(state) >> 40) / (float)(1 << 24) - 1.0f);
}

void random_weights(uint64_t *state, float *weights, size_t count, uint32_t inputs)
{
    for (size_t i = 0; i < count; i++)
        weights[i] = uniform(state, sqrtf(6.0f / (float)inputs));
}
