// dX(u) = sum of G(X) over the results X that copy source pixel u
// A gather: one invocation owns one source pixel.
// needs upsampling/upsampling.glsl
void invocation(ivec2 at, int slice, int image) {
    int x = at.x + shift_x;
    int y = at.y + shift_y;
    ivec2 columns = results_in(x * divisor_x, x * divisor_x + divisor_x - 1, x, size_x, base_x,
                               begin_x, end_x);
    ivec2 rows = results_in(y * divisor_y, y * divisor_y + divisor_y - 1, y, size_y, base_y,
                            begin_y, end_y);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++)
        for (int X = columns.x; X <= columns.y; X++)
            sum += gradient(X, Y, slice, image);
    bool inside = is_within(x, y, size_x, size_y);
    store_destination(at.x, at.y, slice, image, inside ? sum : vec4(0.0));
}
