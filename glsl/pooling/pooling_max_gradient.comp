// dX(y) = sum over X whose largest tap reads pixel y of G(X)
// pooling/pooling_max_argmax.comp left the number of the argmax of each window, -1 for an outside
// zero, which passes nothing on. A gather: one invocation owns one source pixel.
// needs lib/window.glsl

// Where the argmax of window (X, Y) is this pixel.
#ifdef EDGE_CLAMP
// Taps outside stand for pixels of the border, so several may read the same.
bvec4 is_argmax(ivec2 pixel, int X, int Y, vec4 number) {
    ivec4 tap = ivec4(number);
    ivec4 q = tap / KERNEL_WIDTH;
    ivec4 p = tap - q * KERNEL_WIDTH;
    ivec4 x = clamp(first_x + stride_x * X + dilation_x * p, 0, source_width - 1);
    ivec4 y = clamp(first_y + stride_y * Y + dilation_y * q, 0, source_height - 1);
    return equal(abs(x - pixel.x) + abs(y - pixel.y), ivec4(0));
}
#else
bvec4 is_argmax(ivec2 pixel, int X, int Y, vec4 number) {
    ivec2 distance = pixel - ivec2(first_x + stride_x * X, first_y + stride_y * Y);
    ivec2 tap = distance / ivec2(dilation_x, dilation_y);
    bool is_tap = tap * ivec2(dilation_x, dilation_y) == distance;
    return equal(number, vec4(is_tap ? tap.y * KERNEL_WIDTH + tap.x : -2));
}
#endif

void invocation(ivec2 at, int slice, int image) {
    ivec2 pixel = at + ivec2(shift_x, shift_y);
    ivec2 columns = windows_with_x(pixel.x, source_width);
    ivec2 rows = windows_with_y(pixel.y, source_height);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++)
        for (int X = columns.x; X <= columns.y; X++) {
            bvec4 mine = is_argmax(pixel, X, Y, argmax(X - begin_x, Y - begin_y, slice, image));
            sum += mix(vec4(0.0), gradient(X, Y, slice, image), mine);
        }
    bool inside = is_within(pixel.x, pixel.y, source_width, source_height);
    store_destination(at.x, at.y, slice, image, inside ? sum : vec4(0.0));
}
