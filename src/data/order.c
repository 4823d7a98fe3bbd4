/* splitmix64 (Steele, Lea, Flood 2014) and the orders that are drawn from it. */
#include "set.h"

uint64_t order_state(uint64_t seed, uint64_t number)
{
    return (seed << 20 | seed >> 44) + number;
}

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void order_shuffle(uint64_t *state, uint32_t *order, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)(next(state) % i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}
