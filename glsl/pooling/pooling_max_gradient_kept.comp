// dX(y) = sum over X whose winning tap reads pixel y of G(X)
// The forward pass left in "winners" which tap that is. A gather: one invocation owns PIXELS_X x
// PIXELS_Y pixels that taps of one window read next to each other. Along an axis, with X the window
// that reads the first of them by a tap t < STRIDE, pixel r is read
//     by window X - dilation * i   by its tap t + r + STRIDE * i,   i = FROM .. TO - 1
// TAP is t where it is the same for all invocations: their pixels are a whole number of strides.
// With TOGETHER windows in a row are read before the first of them counts, and without a branch.
// needs lib/divide.glsl
// needs lib/unroll_all.glsl
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
    return is_within(p, q, KERNEL_WIDTH, KERNEL_HEIGHT) ? place_of_tap(p, q) : -1;
}

// What a window passes on to each of the pixels, of which its tap (p, q) reads the first.
void add_window(inout vec4 sums[PIXELS], vec4 g, int kept, int p, int q) {
#define ADD(r) \
    { \
        int number = number_of(p + (r) % PIXELS_X, q + (r) / PIXELS_X); \
        if (number >= 0) \
            AT(sums, r, PIXELS) += mix(vec4(0.0), g, are_won_by(kept, number)); \
    }
    UP_TO_FOUR(ADD, PIXELS)
}

void store(ivec2 at, int slice, int image, vec4 sum) {
    ivec2 pixel = at + ivec2(shift_x, shift_y);
    bool inside = is_within(pixel.x, pixel.y, source_width, source_height);
    if (at.x < end_column && at.y < end_row)
        store_destination(at.x, at.y, slice, image, inside ? sum : vec4(0.0));
}

bool is_result(ivec2 X) {
    return X.x >= begin_x && X.x < end_x && X.y >= begin_y && X.y < end_y;
}

#define COLUMNS   (TO_X - FROM_X)
#define WINDOW(i) ivec2(before.x - dilation_x * (FROM_X + (i)), Y)
#define TAP(i)    (TAP_X + STRIDE_X * (FROM_X + (i)))
// In place of one that is none another is read, and counts nothing.
#define READ(i) \
    { \
        ivec2 near = clamp(WINDOW(i), ivec2(0), ivec2(gradient_width, gradient_height) - 1); \
        vec4 there = gradient(near.x, near.y, slice, image); \
        AT(kept, i, COLUMNS) = winners_at(rows, near); \
        AT(g, i, COLUMNS) = is_result(WINDOW(i)) ? there : vec4(0.0); \
    }
#define ADD_READ(i) add_window(sums, AT(g, i, COLUMNS), AT(kept, i, COLUMNS), TAP(i), q);

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
    for (int j = FROM_Y; j < TO_Y; j++) {
        int Y = before.y - dilation_y * j, q = TAP_Y + STRIDE_Y * j;
#ifdef TOGETHER
        vec4 g[COLUMNS];
        int kept[COLUMNS];
        UP_TO_SIXTEEN(READ, COLUMNS)
        UP_TO_SIXTEEN(ADD_READ, COLUMNS)
#else
        for (int i = 0; i < COLUMNS; i++) {
            ivec2 X = WINDOW(i);
            if (is_result(X))
                add_window(sums, gradient(X.x, X.y, slice, image), winners_at(rows, X), TAP(i), q);
        }
#endif
    }
#define STORE(r) store(pixel + ivec2((r) % PIXELS_X * dilation_x, (r) / PIXELS_X * dilation_y), \
                       slice, image, AT(sums, r, PIXELS));
    UP_TO_FOUR(STORE, PIXELS)
}
