// As normalization/normalization_sums.comp, a run to a group: its LANES invocations share the
// pixels of run at.x / LANES, each BLOCK at a time, and add up their sums in pairs. Runs take turns,
// turn_rows rows each: groups at work then read what lies near, and not a part of every image.
//     sum g',   sum g' xh
//     xh = (x - mean) / sqrt(variance + epsilon),   g' = G act'(gamma xh + beta)
// needs lib/compare.glsl
// needs lib/lanes.glsl
// needs normalization/normalization.glsl
// needs desktop/walk.glsl

// The last group adds up what all have left.
void finish(int lane, int run, int slice, int group, vec4 sum, vec4 sum_xh) {
    if (lane == 0) {
        leave(run, slice, group, 0, sum);
        leave(run, slice, group, 1, sum_xh);
    }
    if (!is_last_block(lane, 1, slice, group))
        return;
    int of = min(lane, runs - 1);
    bool left = lane < runs;
    sum = sum_of_lanes(lane, left ? left_by(of, slice, group, 0) : vec4(0.0));
    sum_xh = sum_of_lanes(lane, left ? left_by(of, slice, group, 1) : vec4(0.0));
    if (lane == 0)
        finish_sums(slice, group, source_channels, sum, sum_xh);
}

// Of the slice; vectors of the user's may be called mean and beta.
vec4 own_mean, own_scale, own_beta, own_slope;
vec4 sum, sum_xh;

// Of a block, as far as there are pixels.
void add_block(inout walker w, int slice) {
    vec4 g[BLOCK], d[BLOCK];
    for (int b = 0; b < BLOCK; b++) {
        place at = next_place(w);
        int X = begin_x + at.x, Y = begin_y + at.y;
        g[b] = gradient(X, Y, slice, at.image);
        d[b] = source_edge(first_x + X, first_y + Y, slice, at.image) - own_mean;
    }
    for (int b = 0; b < BLOCK; b++) {
        vec4 own = times(neuron_derivative(own_scale * d[b] + own_beta, own_slope), g[b]);
        sum += is_walked(w, b) ? own : vec4(0.0);
        sum_xh += is_walked(w, b) ? own * d[b] : vec4(0.0);
    }
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), run = at.x / LANES;
    own_mean = mean_of(at.y, at.z);
    own_scale = scale_of(at.y, at.z);
    own_beta = beta_of(at.y, at.z);
    own_slope = neuron_slope(at.y);
    sum = sum_xh = vec4(0.0);
    for (int turn = 0; turn < turns; turn++) {
        int first_row = (turn * runs + run) * turn_rows;
        int count = (min(first_row + turn_rows, rows) - first_row) * row_pixels;
        WALK(w, lane, count, at.z * rows + first_row)
            add_block(w, at.y);
    }
    sum = sum_of_lanes(lane, sum);
    sum_xh = sum_of_lanes(lane, sum_xh) * rate_of(at.y, at.z);
    finish(lane, run, at.y, at.z, sum, sum_xh);
}
