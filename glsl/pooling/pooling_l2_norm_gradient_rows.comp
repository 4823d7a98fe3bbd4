// dX(x, y) = source(x, y) * sum over X of taps(X, x) * part(X, y), the second of two passes
// A pixel that no window reads gets 0, whatever it is.
// needs lib/window.glsl
void invocation(ivec2 at, int slice, int image) {
    int x = at.x + shift_x;
    int y = at.y + shift_y;
    ivec2 columns = windows_with_x(x, source_width);
    ivec2 rows = windows_with_y(y, source_height);
    vec4 sum = vec4(0.0);
    for (int X = columns.x; X <= columns.y; X++)
        sum += float(taps_at_x(x, source_width, X)) *
               part(X - begin_x, at.y - first_row, slice, image);
    bool read = columns.x <= columns.y && rows.x <= rows.y;
    bool inside = is_within(x, y, source_width, source_height);
    vec4 value = sum * source_clamp(x, y, slice, image);
    store_destination(at.x, at.y, slice, image, read && inside ? value : vec4(0.0));
}
