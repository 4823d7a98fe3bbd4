// The window of spec 5.3: destination column X has taps at source columns
//     first_x + stride_x * X + dilation_x * p,   p < KERNEL_WIDTH,   X in [begin_x, end_x)
// and a gradient pass, one invocation a source column y, gathers over the X whose window has y.
// needs lib/divide.glsl

#ifdef EDGE_CLAMP
const bool edge_clamped = true;
#else
const bool edge_clamped = false;
#endif

// First and last X whose window may read source pixel y of `size`, along one axis. With clamping
// the border pixels also stand for everything outside.
ivec2 windows_with(int y, int size, int first, int stride, int dilation, int taps, int begin,
                   int end, bool clamped) {
    int low = ceil_divide(y - first - (taps - 1) * dilation, stride);
    int high = floor_divide(y - first, stride);
    if (clamped && y == 0)
        low = begin;
    if (clamped && y == size - 1)
        high = end - 1;
    return ivec2(max(low, begin), min(high, end - 1));
}

// Of the first tap and those that follow it, how many lie at y or before.
int taps_up_to(int y, int first_tap, int dilation, int taps) {
    return clamp(floor_divide(y - first_tap, dilation) + 1, 0, taps);
}

// Number of taps of window X that read source pixel y of `size`.
int taps_at(int y, int size, int X, int first, int stride, int dilation, int taps, bool clamped) {
    int first_tap = first + stride * X;
    int up_to = taps_up_to(y, first_tap, dilation, taps);
    int before = taps_up_to(y - 1, first_tap, dilation, taps);
    return (clamped && y == size - 1 ? taps : up_to) - (clamped && y == 0 ? 0 : before);
}

ivec2 windows_with_x(int x, int width) {
    return windows_with(x, width, first_x, stride_x, dilation_x, KERNEL_WIDTH, begin_x, end_x,
                        edge_clamped);
}

ivec2 windows_with_y(int y, int height) {
    return windows_with(y, height, first_y, stride_y, dilation_y, KERNEL_HEIGHT, begin_y, end_y,
                        edge_clamped);
}

int taps_at_x(int x, int width, int X) {
    return taps_at(x, width, X, first_x, stride_x, dilation_x, KERNEL_WIDTH, edge_clamped);
}

int taps_at_y(int y, int height, int Y) {
    return taps_at(y, height, Y, first_y, stride_y, dilation_y, KERNEL_HEIGHT, edge_clamped);
}
