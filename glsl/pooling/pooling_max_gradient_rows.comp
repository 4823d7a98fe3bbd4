// dX(x, y) = sum of part(X, y) over the result columns X whose argmax in row y reads column x, the
// second of two passes
// needs lib/window.glsl
void invocation(ivec2 at, int slice, int image) {
    int x = at.x + shift_x;
    int y = at.y + shift_y;
    ivec2 windows = windows_with_x(x, source_width);
    int kept_row = clamp(y - first_kept, 0, last_kept); // no window reads a row that is not kept
    vec4 sum = vec4(0.0);
    for (int X = windows.x; X <= windows.y; X++) {
        bvec4 mine = equal(argmax_column(X - begin_x, kept_row, slice, image), vec4(x));
        if (any(mine))
            sum += mix(vec4(0.0), part(X - begin_x, at.y - first_row, slice, image), mine);
    }
    bool inside = is_within(x, y, source_width, source_height);
    store_destination(at.x, at.y, slice, image, inside ? sum : vec4(0.0));
}
