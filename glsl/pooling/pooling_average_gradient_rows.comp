// dX(x, y) = sum over X with x in window(X) of part(X, y) / Nx(X), the second of two passes
// needs lib/window.glsl
// needs pooling/average.glsl
void invocation(ivec2 at, int slice, int image) {
    int x = at.x + shift_x;
    int y = at.y + shift_y;
    ivec2 columns = windows_with(x, source_width, first_x, stride_x, 1, KERNEL_WIDTH, begin_x,
                                 end_x, false);
    vec4 sum = vec4(0.0);
    for (int X = columns.x; X <= columns.y; X++) {
        float count = count_x(X, source_width);
        if (count > 0.0)
            sum += part(X - begin_x, at.y - first_row, slice, image) / count;
    }
    bool inside = is_within(x, y, source_width, source_height);
    store_destination(at.x, at.y, slice, image, inside ? sum : vec4(0.0));
}
