// The gradient that reaches source pixel (x, y) of an operation that reads one pixel for each of
// its results: the sum of G over the results X that read it.
//   DIRECT      result X reads pixel X, all of them: it is G there
//   otherwise   X reads first + X, X in [begin, end), and with clamping pixels of the border are
//               also read in place of those outside
// Where no result reads the pixel, is_read is false and the sum 0.
// Addressed by hand (BY_HAND) each pixel of the gradient goes with one of the source, which outside
// is what the edge mode says: X reads first + X in either mode.
// Takes textures "gradient" and "source".
// needs lib/window.glsl
#if defined(DIRECT)
bool is_read(int x, int y) { return true; }
vec4 gathered(int x, int y, int slice, int image) { return gradient(x, y, slice, image); }
#elif defined(EDGE_CLAMP) && !defined(BY_HAND)
bool is_read(int x, int y) {
    ivec2 columns = windows_with_x(x, source_width);
    ivec2 rows = windows_with_y(y, source_height);
    return columns.x <= columns.y && rows.x <= rows.y;
}

vec4 gathered(int x, int y, int slice, int image) {
    ivec2 columns = windows_with_x(x, source_width);
    ivec2 rows = windows_with_y(y, source_height);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++)
        for (int X = columns.x; X <= columns.y; X++)
            sum += float(taps_at_x(x, source_width, X) * taps_at_y(y, source_height, Y)) *
                   gradient(X, Y, slice, image);
    return sum;
}
#else
bool is_read(int x, int y) {
    ivec2 at = ivec2(x - first_x, y - first_y);
    return at.x >= begin_x && at.x < end_x && at.y >= begin_y && at.y < end_y;
}

vec4 gathered(int x, int y, int slice, int image) {
    vec4 g = gradient_clamp(x - first_x, y - first_y, slice, image);
    return is_read(x, y) ? g : vec4(0.0);
}
#endif

// Source pixel (x, y) itself, and whether there is one to have a gradient.
#ifdef BY_HAND
vec4 seen(int x, int y, int slice, int image) { return source_edge(x, y, slice, image); }
bool is_seen(int x, int y) { return true; }
#else
vec4 seen(int x, int y, int slice, int image) { return source_clamp(x, y, slice, image); }
bool is_seen(int x, int y) { return is_within(x, y, source_width, source_height); }
#endif
