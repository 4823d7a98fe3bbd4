// dX(y) = sum over X whose winning tap reads pixel y of G(X)
// The forward pass left in "winners" which tap that is. A gather: one invocation owns PIXELS_X x
// PIXELS_Y pixels that taps of one window read next to each other. Along an axis, with X the window
// that reads the first of them by a tap t < STRIDE, pixel r is read
//     by window X - dilation * i   by its tap t + r + STRIDE * i,   i = FROM .. TO - 1
// TAP is t where it is the same for all invocations: their pixels are a whole number of strides.
// needs lib/divide.glsl
// needs lib/unrolled.glsl
#define PIXELS (PIXELS_X * PIXELS_Y)

// The first that invocation `at` owns, along an axis.
int first_pixel(int at, int low, int dilation, int pixels) {
    return pixels == 1 ? low + at : low + at + at / dilation * dilation * (pixels - 1);
}

int window_before(int pixel, int first, int stride) {
    return stride == 1 ? pixel - first : floor_divide(pixel - first, stride);
}

int number_of(int p, int q) {
    return p >= 0 && q >= 0 && p < KERNEL_WIDTH && q < KERNEL_HEIGHT ? place_of_tap(p, q) : -1;
}

vec4 passed_on(vec4 g, ivec4 winner, int number) {
    return mix(vec4(0.0), g, equal(winner, ivec4(number)));
}

void store(ivec2 at, int slice, int image, vec4 sum) {
    ivec2 pixel = at + ivec2(shift_x, shift_y);
    bool inside = pixel.x >= 0 && pixel.y >= 0 && pixel.x < source_width && pixel.y < source_height;
    if (at.x < end_column && at.y < end_row)
        store_destination(at.x, at.y, slice, image, inside ? sum : vec4(0.0));
}

void invocation(ivec2 at, int slice, int image) {
    ivec2 pixel = ivec2(first_pixel(at.x, first_column, dilation_x, PIXELS_X),
                        first_pixel(at.y, first_row, dilation_y, PIXELS_Y));
    int x = pixel.x + shift_x, y = pixel.y + shift_y;
    ivec2 before = ivec2(window_before(x, first_x, STRIDE_X), window_before(y, first_y, STRIDE_Y));
#ifndef TAP_X
    int TAP_X = x - first_x - STRIDE_X * before.x;
#endif
#ifndef TAP_Y
    int TAP_Y = y - first_y - STRIDE_Y * before.y;
#endif
    int rows = winner_rows(slice, image);
    vec4 sums[PIXELS];
#define CLEAR(r) AT(sums, r, PIXELS) = vec4(0.0);
    UP_TO_FOUR(CLEAR, PIXELS)
    for (int j = FROM_Y; j < TO_Y; j++)
        for (int i = FROM_X; i < TO_X; i++) {
            int X = before.x - dilation_x * i;
            int Y = before.y - dilation_y * j;
            if (X < begin_x || X >= end_x || Y < begin_y || Y >= end_y)
                continue;
            int p = TAP_X + STRIDE_X * i;
            int q = TAP_Y + STRIDE_Y * j;
            ivec4 winner = places_in(winners_at(rows, ivec2(X, Y)));
            vec4 g = gradient(X, Y, slice, image);
#define ADD(r) AT(sums, r, PIXELS) += \
    passed_on(g, winner, number_of(p + (r) % PIXELS_X, q + (r) / PIXELS_X));
            UP_TO_FOUR(ADD, PIXELS)
        }
#define STORE(r) store(pixel + ivec2((r) % PIXELS_X * dilation_x, (r) / PIXELS_X * dilation_y), \
                       slice, image, AT(sums, r, PIXELS));
    UP_TO_FOUR(STORE, PIXELS)
}
