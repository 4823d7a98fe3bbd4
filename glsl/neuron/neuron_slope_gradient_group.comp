// As neuron/neuron_slope_gradient.comp, a run to a group: its LANES invocations share the pixels of
// run at.x / LANES, and add up their sums in pairs.
// needs lib/lanes.glsl
// needs neuron/neuron.glsl
// needs pixel_reduction/walk.glsl
void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), run = at.x / LANES;
    int first_row = run * span;
    int count = (min(first_row + span, rows) - first_row) * row_pixels;
    vec4 sum = vec4(0.0);
    walker w = walker_of(lane, count, first_row);
    for (int i = lane; i < count; i += LANES) {
        place p = next_place(w);
        int X = begin_x + p.x, Y = begin_y + p.y;
        vec4 x = source_edge(first_x + X, first_y + Y, at.y, p.image);
        sum += by_sign(x, gradient(X, Y, at.y, p.image) * x, vec4(0.0));
    }
    sum = sum_of_lanes(lane, sum);
    if (lane == 0)
        store_merged(run, 0, at.y, 0, sum);
}
