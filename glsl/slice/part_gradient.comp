// dX(u, c) = sum of G(X, k) over the results that slice/part.comp makes of source element (u, c).
// Of one axis these are `count` candidates, one where nothing stands for another pixel, at
//     (v(i) - first) / step,   v = u;   MIRRORED: u, -u and 2 (size - 1) - u
// where there is no rest. With REPLICATED, whose steps are 1, they follow each other, and a border
// has all from the first result on or up to the last.
// needs lib/divide.glsl

#ifdef MIRRORED
const int nowhere = 1 << 29;

int mirrored(int u, int size, int i) {
    int after = u < size - 1 ? 2 * (size - 1) - u : nowhere;
    int before = u > 0 ? -u : nowhere;
    return i == 0 ? u : i == 1 ? before : after;
}
#endif

// The first candidate and how many there are.
ivec2 results_of(int u, int size, int first, int by, int begin, int end) {
#if defined(MIRRORED)
    return ivec2(0, 3);
#elif defined(REPLICATED)
    int low = u == 0 ? begin : u - first;
    int high = u == size - 1 ? end : u - first + 1;
    low = max(low, begin);
    return ivec2(low, min(high, end) - low);
#else
    int X = floor_divide(u - first, abs(by)) * (by < 0 ? -1 : 1);
    return ivec2(X, first + by * X == u && X >= begin && X < end ? 1 : 0);
#endif
}

// Result that candidate i of them is.
int result_of(ivec2 results, int i, int u, int size, int first) {
#ifdef MIRRORED
    return mirrored(u, size, i) - first;
#else
    return results.x + i;
#endif
}

vec4 channels_at(int X, int Y, int slice, int image) {
#ifdef WHOLE_SLICES
    int s = slice - first_slice;
    vec4 v = gradient_clamp(X, Y, clamp(s, 0, gradient_slices - 1), image);
    return s >= 0 && s < gradient_slices ? v : vec4(0.0);
#else
    vec4 v = vec4(0.0);
    for (int i = 0; i < 4; i++) {
        int d = (4 * slice + i - first_c) * (step_c < 0 ? -1 : 1);
        int k = d / abs(step_c);
        if (d >= 0 && k < gradient_channels && k * abs(step_c) == d)
            v[i] = gradient_clamp(X, Y, k >> 2, image)[k & 3];
    }
    return v;
#endif
}

void invocation(ivec2 at, int slice, int image) {
    ivec2 rows = results_of(at.y, destination_height, first_y, step_y, begin_y, end_y);
    ivec2 columns = results_of(at.x, destination_width, first_x, step_x, begin_x, end_x);
    vec4 sum = vec4(0.0);
    for (int j = 0; j < rows.y; j++)
        for (int i = 0; i < columns.y; i++) {
            int Y = result_of(rows, j, at.y, destination_height, first_y);
            int X = result_of(columns, i, at.x, destination_width, first_x);
            if (X >= begin_x && Y >= begin_y && X < end_x && Y < end_y)
                sum += channels_at(X, Y, slice, image);
        }
    store_destination(at.x, at.y, slice, image, sum);
}
