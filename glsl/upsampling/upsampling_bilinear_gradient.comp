// dX(u) = sum over X of G(X) * max(1 - |t(X) - u|, 0)
// with t(X) the position of X kept inside the image.
// A gather: one invocation owns one source pixel and walks the results between its neighbours.
// Columns U of the whole enlarged image whose position lies within 1 of source pixel u of `size`;
// positions beyond the border pixels count as on them.
// needs lib/divide.glsl
// needs upsampling/upsampling.glsl
ivec2 between_neighbours(int u, int size, int scale, int bias, int divisor, int extent) {
    int low = floor_divide((u - 1) * divisor - bias, scale) + 1;
    int high = -floor_divide(bias - (u + 1) * divisor, scale) - 1;
    return ivec2(u == 0 ? 0 : low, u == size - 1 ? extent - 1 : high);
}

vec2 weight(ivec2 X, ivec2 u, ivec2 size) {
    ivec2 divisor = ivec2(divisor_x, divisor_y);
    ivec2 distance = abs(position(enlarged(X), size) - u * divisor);
    return vec2(max(divisor - distance, ivec2(0))) / vec2(divisor);
}

void invocation(ivec2 at, int slice, int image) {
    ivec2 u = at + ivec2(shift_x, shift_y);
    ivec2 size = ivec2(size_x, size_y);
    ivec2 near_x = between_neighbours(u.x, size_x, scale_x, bias_x, divisor_x, extent_x);
    ivec2 near_y = between_neighbours(u.y, size_y, scale_y, bias_y, divisor_y, extent_y);
    ivec2 columns = results_in(near_x.x, near_x.y, u.x, size_x, base_x, begin_x, end_x);
    ivec2 rows = results_in(near_y.x, near_y.y, u.y, size_y, base_y, begin_y, end_y);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++) {
        vec4 line = vec4(0.0);
        for (int X = columns.x; X <= columns.y; X++)
            line += weight(ivec2(X, Y), u, size).x * gradient(X, Y, slice, image);
        sum += weight(ivec2(columns.x, Y), u, size).y * line;
    }
    bool inside = all(greaterThanEqual(u, ivec2(0))) && all(lessThan(u, size));
    store_destination(at.x, at.y, slice, image, inside ? sum : vec4(0.0));
}
