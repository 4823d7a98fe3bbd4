// dX(y) = sum over X whose winning tap reads pixel y of G(X)
// The forward pass left in "winners" which tap that is (pooling/winners.glsl). A gather: one invocation
// owns two pixels of a column that taps of one window read next to each other.
// needs lib/divide.glsl

// The window that reads a pixel by the last of its taps that may, along one axis, and the tap.
ivec2 last_tap(int pixel, int first, int stride, int dilation, int taps) {
    int X = ceil_divide(pixel - first - (taps - 1) * dilation, stride);
    return ivec2(X, dilation == 1 ? pixel - first - stride * X : taps - 1);
}

int number_of(int p, int q) {
    return p >= 0 && q >= 0 && q < KERNEL_HEIGHT ? q * 8 + p : -1;
}

vec4 passed_on(vec4 g, ivec4 winner, int number) {
    return mix(vec4(0.0), g, equal(winner, ivec4(number)));
}

void store(int x, int y, int slice, int image, vec4 sum) {
    ivec2 pixel = ivec2(x + shift_x, y + shift_y);
    bool inside = pixel.x >= 0 && pixel.y >= 0 && pixel.x < source_width && pixel.y < source_height;
    if (y < end_row)
        store_destination(x, y, slice, image, inside ? sum : vec4(0.0));
}

void invocation(ivec2 at, int slice, int image) {
    int y = first_row + at.y + at.y / dilation_y * dilation_y;
    ivec2 x_at = last_tap(at.x + shift_x, first_x, stride_x, dilation_x, KERNEL_WIDTH);
    ivec2 y_at = last_tap(y + shift_y, first_y, stride_y, dilation_y, KERNEL_HEIGHT);
    int plane = (image * gradient_slices + slice) * gradient_height;
    vec4 upper = vec4(0.0), lower = vec4(0.0);
    for (int j = 0; j < WINDOWS_Y; j++)
        for (int i = 0; i < WINDOWS_X; i++) {
            int X = x_at.x + dilation_x * i;
            int Y = y_at.x + dilation_y * j;
            if (X < begin_x || X >= end_x || Y < begin_y || Y >= end_y)
                continue;
            int p = x_at.y - stride_x * i;
            int q = y_at.y - stride_y * j;
            ivec4 winner = ivec4(int(winners[(plane + Y) * gradient_width + X]));
            winner = winner >> ivec4(0, 6, 12, 18) & ivec4(63);
            vec4 g = gradient(X, Y, slice, image);
            upper += passed_on(g, winner, number_of(p, q));
            lower += passed_on(g, winner, number_of(p, q + 1));
        }
    store(at.x, y, slice, image, upper);
    store(at.x, y + dilation_y, slice, image, lower);
}
