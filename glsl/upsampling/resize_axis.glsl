// One axis of a resized image: result X lies at position (factor X + shift) / divisor of the source;
// factor >= 0, divisor > 0. Of nearest that is rounded already, so that the whole part counts.
// needs lib/divide.glsl

// The pixels of the source that result X reads, and the share of the second.
struct taps {
    int low, high;
    float share;
};

taps taps_of(int X, int size, ivec3 axis) {
    int n = axis.x * X + axis.y;
    int low = floor_divide(n, axis.z);
    taps t;
    t.low = clamp(low, 0, size - 1);
#ifdef LINEAR
    t.high = clamp(low + 1, 0, size - 1);
    t.share = float(n - low * axis.z) / float(axis.z);
#else
    t.high = t.low;
    t.share = 0.0;
#endif
    return t;
}

// First and last result of begin .. end - 1 that may read source pixel u.
ivec2 results_of(int u, int size, ivec3 axis, int begin, int end) {
    if (axis.x == 0)
        return ivec2(begin, end - 1);
#ifdef LINEAR
    int low = floor_divide((u - 1) * axis.z - axis.y, axis.x) + 1;
#else
    int low = ceil_divide(u * axis.z - axis.y, axis.x);
#endif
    int high = ceil_divide((u + 1) * axis.z - axis.y, axis.x) - 1;
    return ivec2(u == 0 ? begin : max(low, begin), u == size - 1 ? end - 1 : min(high, end - 1));
}

// The share of source pixel u in result X.
float share_of(int u, int X, int size, ivec3 axis) {
    taps t = taps_of(X, size, axis);
    return (t.low == u ? 1.0 - t.share : 0.0) + (t.high == u ? t.share : 0.0);
}
