// The gradient that reaches source pixel (x, y) of an operation that reads one pixel for each of
// its results: the sum of G over the results X that read it.
//   DIRECT      result X reads pixel X, all of them: it is G there
//   otherwise   X reads first + X, X in [begin, end), and with clamping pixels of the border are
//               also read in place of those outside
// Needs textures "gradient" and "source" and lib/window.glsl.
#if defined(DIRECT)
vec4 gathered(int x, int y, int slice, int image) { return gradient(x, y, slice, image); }
#elif defined(EDGE_CLAMP)
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
vec4 gathered(int x, int y, int slice, int image) {
    ivec2 at = ivec2(x - first_x, y - first_y);
    bool read = at.x >= begin_x && at.x < end_x && at.y >= begin_y && at.y < end_y;
    vec4 g = gradient_clamp(at.x, at.y, slice, image);
    return read ? g : vec4(0.0);
}
#endif
