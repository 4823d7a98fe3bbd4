// As normalization/normalization_statistics.comp, a run to a group: its LANES invocations share the
// pixels of run at.x / LANES, each BLOCK at a time, and merge what they have in pairs. Runs take turns,
// turn_rows rows each, as those of desktop/sums_last_block.comp do, and the last group merges them.
// needs pixel_reduction/merge_lanes.glsl
// needs desktop/walk.glsl

// mean, M2 of a block, as far as there are pixels.
void merge_block(inout statistics s, inout walker w, int slice, vec4 pivot) {
    vec4 v[BLOCK];
    vec4 mean = vec4(0.0), m2 = vec4(0.0);
    float n = 0.0;
    for (int b = 0; b < BLOCK; b++) {
        place at = next_place(w);
        v[b] = source(at.x, at.y, slice, at.image) - pivot;
        mean += is_walked(w, b) ? v[b] : vec4(0.0);
        n += is_walked(w, b) ? 1.0 : 0.0;
    }
    mean /= n;
    for (int b = 0; b < BLOCK; b++) {
        vec4 d = v[b] - mean;
        m2 += is_walked(w, b) ? d * d : vec4(0.0);
    }
    merge(s, n, mean, m2);
}

// Each has all its rows of the turns that are whole, and what the last leaves it.
float pixels_of(int run) {
    int whole = rows / (runs * turn_rows);
    int rest = rows - (whole * runs + run) * turn_rows;
    return float(row_pixels * (whole * turn_rows + clamp(rest, 0, turn_rows)));
}

// The last group merges what all have left.
void finish(int lane, int run, int slice, int group, vec4 pivot, statistics s) {
    if (lane == 0) {
        leave(run, slice, group, 0, s.mean);
        leave(run, slice, group, 1, s.m2);
    }
    if (!is_last_block(lane, 1, slice, group))
        return;
    int of = min(lane, runs - 1);
    s = statistics(lane < runs ? pixels_of(of) : 0.0, left_by(of, slice, group, 0),
                   left_by(of, slice, group, 1));
    merge_lanes(lane, 1, s);
    if (lane == 0)
        finish_statistics(slice, group, source_channels, pivot, s);
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), run = at.x / LANES;
    vec4 pivot = source(0, 0, at.y, at.z * rows / image_rows);
    statistics s = statistics(0.0, vec4(0.0), vec4(0.0));
    for (int turn = 0; turn < turns; turn++) {
        int first_row = (turn * runs + run) * turn_rows;
        int count = (min(first_row + turn_rows, rows) - first_row) * row_pixels;
        WALK(w, lane, count, at.z * rows + first_row)
            merge_block(s, w, at.y, pivot);
    }
    merge_lanes(lane, 1, s);
    finish(lane, run, at.y, at.z, pivot, s);
}
