// dX(y) = sum over X with y in window(X) of G(X) / N(X)
// A gather: one invocation owns one source pixel.
// needs lib/window.glsl
// needs pooling/average.glsl
void invocation(ivec2 at, int slice, int image) {
    int x = at.x + shift_x;
    int y = at.y + shift_y;
    ivec2 columns = windows_with(x, source_width, first_x, stride_x, 1, KERNEL_WIDTH, begin_x,
                                 end_x, false);
    ivec2 rows = windows_with(y, source_height, first_y, stride_y, 1, KERNEL_HEIGHT, begin_y,
                              end_y, false);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++)
        for (int X = columns.x; X <= columns.y; X++) {
            float count = average_count(X, Y, source_width, source_height);
            if (count > 0.0)
                sum += gradient(X, Y, slice, image) / count;
        }
    bool inside = is_within(x, y, source_width, source_height);
    store_destination(at.x, at.y, slice, image, inside ? sum : vec4(0.0));
}
