// dX(y) = sum over X whose largest tap reads pixel y of G(X)
// The forward pass left in "indices" which tap that is. A gather: an invocation owns two pixels,
// dilation_y apart, which taps of one window read next to each other. Along an axis, with X the window
// that reads the first of them by a tap t < stride, pixel r is read
//     by window X - dilation * i   by its tap t + r + stride * i,   i = FROM .. TO - 1
// TAP is t where it is the same for all invocations: their pixels are a whole number of strides.
// needs lib/divide.glsl
int window_before(int pixel, int first, int stride) {
    return stride == 1 ? pixel - first : floor_divide(pixel - first, stride);
}

// Adds to a pixel, which tap (p, q) reads, what a window passes on.
void add_window(inout vec4 sum, vec4 g, int code, int p, int q) {
    if (is_within(p, q, KERNEL_WIDTH, KERNEL_HEIGHT))
        sum += mix(vec4(0.0), g, is_argmax(code, place_of_tap(p, q)));
}

void store(ivec2 at, int slice, int image, vec4 sum) {
    ivec2 pixel = at + ivec2(shift_x, shift_y);
    bool inside = is_within(pixel.x, pixel.y, source_width, source_height);
    if (at.x < end_column && at.y < end_row)
        store_destination(at.x, at.y, slice, image, inside ? sum : vec4(0.0));
}

void invocation(ivec2 at, int slice, int image) {
    ivec2 pixel = ivec2(first_column + at.x, first_row + at.y + at.y / dilation_y * dilation_y);
    int x = pixel.x + shift_x, y = pixel.y + shift_y;
    ivec2 before = ivec2(window_before(x, first_x, stride_x), window_before(y, first_y, stride_y));
#ifndef TAP_X
    int TAP_X = x - first_x - stride_x * before.x;
#endif
#ifndef TAP_Y
    int TAP_Y = y - first_y - stride_y * before.y;
#endif
    int rows = index_rows(slice, image);
    vec4 upper = vec4(0.0), lower = vec4(0.0);
    for (int j = FROM_Y; j < TO_Y; j++)
        for (int i = FROM_X; i < TO_X; i++) {
            ivec2 X = before - ivec2(dilation_x * i, dilation_y * j);
            if (X.x >= begin_x && X.x < end_x && X.y >= begin_y && X.y < end_y) {
                vec4 g = gradient(X.x, X.y, slice, image);
                int code = indices_at(rows, X), p = TAP_X + stride_x * i, q = TAP_Y + stride_y * j;
                add_window(upper, g, code, p, q);
                add_window(lower, g, code, p, q + 1);
            }
        }
    store(pixel, slice, image, upper);
    store(pixel + ivec2(0, dilation_y), slice, image, lower);
}
