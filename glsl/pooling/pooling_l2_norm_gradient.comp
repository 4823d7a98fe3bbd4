// dX(y) = source(y) * sum over X of taps(X, y) * G(X) / norm(X);   0 where norm(X) is 0
// with the norms that a pass before has left (pooling/l2_norm_term.glsl), or that are recomputed
// (pooling/l2_norm_term_recomputed.glsl). taps(X, y) counts the taps of window X that read pixel y.
// A gather: one invocation owns one source pixel.
// needs lib/window.glsl
void invocation(ivec2 at, int slice, int image) {
    int x = at.x + shift_x;
    int y = at.y + shift_y;
    ivec2 columns = windows_with_x(x, source_width);
    ivec2 rows = windows_with_y(y, source_height);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++)
        for (int X = columns.x; X <= columns.y; X++) {
            int taps = taps_at_x(x, source_width, X) * taps_at_y(y, source_height, Y);
            sum += l2_norm_term(float(taps), X, Y, slice, image);
        }
    bool read = columns.x <= columns.y && rows.x <= rows.y;
    bool inside = is_within(x, y, source_width, source_height);
    vec4 value = sum * source_clamp(x, y, slice, image);
    store_destination(at.x, at.y, slice, image, read && inside ? value : vec4(0.0));
}
