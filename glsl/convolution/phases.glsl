// The sums of a strided data gradient lie side by side, one for each phase: the pixels that lie equally
// within a stride. PHASES: an invocation finds its own. The taps of a phase are each tap_step-th of the
// layer's, in reverse; weights of all taps are packed in their order.
// needs convolution/first_tap.glsl
#ifdef PHASES
ivec2 phase;   // within a stride
ivec2 corner0; // where the window of its first pixel begins
ivec2 taps;    // of that window
int tap0;      // the layer's tap that it begins with
#define CORNER     corner0
#define TAPS       taps
#define TAP0       tap0
#define TAP_STEP_X (-tap_step_x)
#define TAP_STEP_Y (-tap_step_y * layer_width)
#else
#define CORNER     ivec2(first_x, first_y)
#define TAPS       ivec2(kernel_width, kernel_height)
#define TAP0       0
#define TAP_STEP_X 1
#define TAP_STEP_Y kernel_width
#endif

#ifdef PHASES
// Taps of a phase along one axis, if any: where they begin, how many, and the first of the layer.
ivec3 reversed_taps(int distance, int stride, int dilation, int tap_step, int size) {
    int first = first_tap(distance, stride, dilation, tap_step);
    if (first >= size)
        return ivec3(0);
    int count = (size - first + tap_step - 1) / tap_step;
    int last = first + tap_step * (count - 1);
    return ivec3(floor_divide(distance - dilation * last, stride), count, last);
}

void find_phase(int index) {
    int row = index / phases_x;
    phase = ivec2(index - row * phases_x, row);
    ivec3 x = reversed_taps(distance_x + phase.x, layer_stride_x, layer_dilation_x, tap_step_x,
                            layer_width);
    ivec3 y = reversed_taps(distance_y + phase.y, layer_stride_y, layer_dilation_y, tap_step_y,
                            layer_height);
    corner0 = ivec2(x[0], y[0]);
    taps = x[1] > 0 && y[1] > 0 ? ivec2(x[1], y[1]) : ivec2(0);
    tap0 = y[2] * layer_width + x[2];
}

bool is_stored(ivec2 X) {
    ivec2 u = phase + ivec2(step_x, step_y) * X;
    return u.x < result_width && u.y < result_height;
}

ivec2 stored_at(ivec2 X) {
    return ivec2(region_x, region_y) + phase + ivec2(step_x, step_y) * X;
}
#else
bool is_stored(ivec2 X) { return X.x < region_width && X.y < region_height; }

ivec2 stored_at(ivec2 X) { return ivec2(region_x, region_y) + ivec2(step_x, step_y) * X; }
#endif
