// What a window of "source" comes to, for result X with its taps at columns first + X + p:
//     centre     Xc, the tap in the middle, floor(K / 2)
//     offset     Mn - Xc, Mn = sum of taps / N
//     contrast   Xc - p0 * Mn
//     scale      T = delta + alpha * (sum of (tap - Mn)^2) / N
// Without ABOUT_MEAN Mn is 0, and so p0 * Mn. N counts all taps; those outside the image are 0, or
// with EDGE_CLAMP the nearest pixel inside. All is taken relative to the tap in the middle, and
// rows are summed apart: a contrast that is small beside the mean keeps its digits.
#define TAPS float(KERNEL_WIDTH * KERNEL_HEIGHT)

struct local_statistics {
    vec4 centre;
    vec4 offset;
    vec4 contrast;
    vec4 scale;
};

ivec2 centre_of(int X, int Y) {
    return ivec2(first_x + X + KERNEL_WIDTH / 2, first_y + Y + KERNEL_HEIGHT / 2);
}

vec4 centre_value(int X, int Y, int slice, int image) {
    ivec2 at = centre_of(X, Y);
    return source_edge(at.x, at.y, slice, image);
}

// Mean of tap - around.
vec4 window_mean(int X, int Y, int slice, int image, vec4 around) {
    vec4 sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++) {
        vec4 row = vec4(0.0);
        for (int p = 0; p < KERNEL_WIDTH; p++)
            row += source_edge(first_x + X + p, first_y + Y + q, slice, image) - around;
        sum += row;
    }
    return sum / TAPS;
}

// Mean of (tap - around - offset)^2.
vec4 window_variance(int X, int Y, int slice, int image, vec4 around, vec4 offset) {
    vec4 sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++) {
        vec4 row = vec4(0.0);
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 d = source_edge(first_x + X + p, first_y + Y + q, slice, image) - around - offset;
            row += d * d;
        }
        sum += row;
    }
    return sum / TAPS;
}

local_statistics statistics_of(int X, int Y, int slice, int image) {
    vec4 centre = centre_value(X, Y, slice, image);
#ifdef ABOUT_MEAN
    vec4 offset = window_mean(X, Y, slice, image, centre);
    vec4 contrast = (1.0 - p0) * centre - p0 * offset;
    vec4 variance = window_variance(X, Y, slice, image, centre, offset);
#else
    vec4 offset = -centre;
    vec4 contrast = centre;
    vec4 variance = window_variance(X, Y, slice, image, vec4(0.0), vec4(0.0));
#endif
    return local_statistics(centre, offset, contrast, delta + alpha * variance);
}
