// dX(u) = sum of G(X) times the share of source pixel u in result X
// needs upsampling/resize_axis.glsl
void invocation(ivec2 at, int slice, int image) {
    ivec3 column = ivec3(factor_x, shift_x, divisor_x);
    ivec3 row = ivec3(factor_y, shift_y, divisor_y);
    ivec2 columns = results_of(at.x, destination_width, column, begin_x, end_x);
    ivec2 rows = results_of(at.y, destination_height, row, begin_y, end_y);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++) {
        float down = share_of(at.y, Y, destination_height, row);
        for (int X = columns.x; X <= columns.y; X++) {
            float share = down * share_of(at.x, X, destination_width, column);
            if (share != 0.0) // what has no share may be infinite
                sum += share * gradient(X, Y, slice, image);
        }
    }
    store_destination(at.x, at.y, slice, image, sum);
}
