// As neuron/neuron_slope_gradient.comp, a run to a group: its LANES invocations share the pixels of
// run at.x / LANES, each BLOCK at a time, and add up their sums in pairs. Runs take turns, turn_rows
// rows each, as those of desktop/sums_last_block.comp do.
// needs lib/lanes.glsl
// needs neuron/neuron.glsl
// needs desktop/walk.glsl

// The last group adds up what all have left.
void finish(int lane, int run, int slice, vec4 sum) {
    if (lane == 0)
        leave(run, slice, 0, 0, sum);
    if (!is_last_block(lane, 1, slice, 0))
        return;
    vec4 left = left_by(min(lane, runs - 1), slice, 0, 0);
    sum = sum_of_lanes(lane, lane < runs ? left : vec4(0.0));
    if (lane == 0)
        finish_sums(slice, 0, source_channels, sum, vec4(0.0));
}

// Of a block, as far as there are pixels.
vec4 sum_of_block(inout walker w, int slice) {
    vec4 x[BLOCK], g[BLOCK];
    vec4 sum = vec4(0.0);
    for (int b = 0; b < BLOCK; b++) {
        place at = next_place(w);
        int X = begin_x + at.x, Y = begin_y + at.y;
        x[b] = source_edge(first_x + X, first_y + Y, slice, at.image);
        g[b] = gradient(X, Y, slice, at.image);
    }
    for (int b = 0; b < BLOCK; b++)
        sum += is_walked(w, b) ? neuron_by_slope(x[b], g[b]) : vec4(0.0);
    return sum;
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), run = at.x / LANES;
    vec4 sum = vec4(0.0);
    for (int turn = 0; turn < turns; turn++) {
        int first_row = (turn * runs + run) * turn_rows;
        int count = (min(first_row + turn_rows, rows) - first_row) * row_pixels;
        WALK(w, lane, count, first_row)
            sum += sum_of_block(w, at.y);
    }
    sum = sum_of_lanes(lane, sum);
    finish(lane, run, at.y, sum);
}
