// As neuron/neuron_slope_gradient.comp, a run to a group: its LANES invocations share the pixels of
// run at.x / LANES, and add up their sums in pairs.
// needs lib/lanes.glsl
// needs neuron/neuron.glsl
void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), run = at.x / LANES;
    int first_row = run * span;
    int count = (min(first_row + span, rows) - first_row) * row_pixels;
    vec4 sum = vec4(0.0);
    for (int i = lane; i < count; i += LANES) {
        int line = i / row_pixels;
        int row = first_row + line;
        int image = row / image_rows;
        int X = begin_x + i - line * row_pixels, Y = begin_y + row - image * image_rows;
        vec4 x = source_edge(first_x + X, first_y + Y, at.y, image);
        sum += by_sign(x, gradient(X, Y, at.y, image) * x, vec4(0.0));
    }
    sum = sum_of_lanes(lane, sum);
    if (lane == 0)
        store_merged(run, 0, at.y, 0, sum);
}
