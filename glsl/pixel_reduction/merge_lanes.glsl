// Merges the statistics of the LANES invocations of a work group, in pairs: the order is fixed.
// needs pixel_reduction/partial_statistics.glsl
#define HALF_LANES (LANES / 2)

shared float counts[HALF_LANES];
shared vec4 means[HALF_LANES], m2s[HALF_LANES];

// For all lanes at a time, of those that are a multiple of `step` apart, a power of two: the first
// `step` then have all.
void merge_lanes(int lane, int step, inout statistics s) {
    for (int apart = HALF_LANES; apart >= step; apart /= 2) {
        if (lane >= apart && lane < 2 * apart) {
            counts[lane - apart] = s.n;
            means[lane - apart] = s.mean;
            m2s[lane - apart] = s.m2;
        }
        barrier();
        if (lane < apart && counts[lane] > 0.0)
            merge(s, counts[lane], means[lane], m2s[lane]);
        barrier();
    }
}
