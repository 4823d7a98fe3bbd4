// Sums and maxima over the channels of a pixel. Components beyond the last channel hold 0, which
// is not neutral to a maximum or to exp: these leave them out. A maximum may lose a NaN.
// With FULL_SLICES there are none.
bvec4 is_channel(int slice, int channels) {
#ifdef FULL_SLICES
    return bvec4(true);
#else
    return lessThan(ivec4(slice * 4) + ivec4(0, 1, 2, 3), ivec4(channels));
#endif
}

// Largest channel of one slice. Its first component is always a channel.
float slice_max(vec4 v, int slice, int channels) {
    v = mix(v.xxxx, v, is_channel(slice, channels));
    return max(max(v.x, v.y), max(v.z, v.w));
}

float slice_sum(vec4 v, int slice, int channels) {
    v = mix(vec4(0.0), v, is_channel(slice, channels));
    return (v.x + v.y) + (v.z + v.w);
}

// A sum over all slices from the first on, in runs of 64: its error grows with the length of a run
// and with the number of runs, not with the product.
struct long_sum {
    float total, run;
};

void add_slice(inout long_sum s, float value, int slice) {
    s.run += value;
    if ((slice & 63) == 63) {
        s.total += s.run;
        s.run = 0.0;
    }
}

float total_of(long_sum s) { return s.total + s.run; }
