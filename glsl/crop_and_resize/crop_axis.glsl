// One axis of a region: result X of `results` lies at position
//     (size - 1) (start + extent X / (results - 1))          of one result: (size - 1) (start + extent / 2)
// of the `size` source pixels, and is interpolated between the pixels below and above it.
// needs lib/compare.glsl

struct region_axis {
    int results, size;
    float start, extent;
};

float position_of(int X, region_axis axis) {
    float share = axis.results == 1 ? 0.5 : float(X) / float(axis.results - 1);
    return float(axis.size - 1) * (axis.start + axis.extent * share);
}

// The source pixels low and low + 1 and the share of the second, NaN where the position is. Further than
// a pixel from the source all positions are alike.
struct taps {
    int low;
    float share;
};

taps taps_of(int X, region_axis axis) {
    float position = held(position_of(X, axis), -2.0, float(axis.size + 1));
    float low = floor(position);
    return taps(int(low), position - low);
}

int edge_of(int u, int size) {
#ifdef EDGE_CLAMP
    return clamp(u, 0, size - 1);
#else
    return u;
#endif
}

// The share of source pixel u in result X.
float share_of(int u, int X, region_axis axis) {
    taps t = taps_of(X, axis);
    return (edge_of(t.low, axis.size) == u ? 1.0 - t.share : 0.0) +
           (edge_of(t.low + 1, axis.size) == u ? t.share : 0.0);
}

// First and last result that may read source pixel u. All positions lie between those of the first and
// the last result; the slack is what rounding may move them by. All results where they are within a
// pixel, or not all finite.
ivec2 results_near(int u, region_axis axis) {
    int last = axis.results - 1;
    float from = position_of(0, axis), to = position_of(last, axis);
    float slack = 0.01 + 1e-6 * max(abs(from), abs(to));
    float low = float(u) - 1.0 - slack, high = float(u) + 1.0 + slack;
#ifdef EDGE_CLAMP
    low = u == 0 ? min(low, min(from, to)) : low;
    high = u == axis.size - 1 ? max(high, max(from, to)) : high;
#endif
    if (low > max(from, to) || high < min(from, to))
        return ivec2(0, -1);
    float pixels = abs(to - from);
    if (!(pixels >= 1.0 && pixels < 1e9))
        return ivec2(0, last);
    float results_per_pixel = float(last) / (to - from);
    float a = (low - from) * results_per_pixel, b = (high - from) * results_per_pixel;
    return ivec2(int(clamp(floor(min(a, b)) - 1.0, 0.0, float(last))),
                 int(clamp(ceil(max(a, b)) + 1.0, 0.0, float(last))));
}
