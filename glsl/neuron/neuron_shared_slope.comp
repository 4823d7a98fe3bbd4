// The sum of all channels, BLOCK by BLOCK: a long sum of single terms would lose their last bits.
#define BLOCK 32
void invocation(ivec3 at) {
#ifdef ACCUMULATE
    float sum = slope[0];
#else
    float sum = 0.0;
#endif
    for (int first = 0; first < channel_count; first += BLOCK) {
        float part = 0.0;
        for (int c = first; c < min(first + BLOCK, channel_count); c++)
            part += channels[c];
        sum += part;
    }
    slope[0] = sum;
}
