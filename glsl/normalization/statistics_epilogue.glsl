// Mean and variance of what a pass stores (pixel_reduction/epilogue.glsl). A lane takes its values
// relative to its first, a group to the first of its first lane, and all groups to that of run 0, so
// that values which differ little beside their mean keep their digits.
//     GROUP_SLICES   of a work group, a power of two
// needs pixel_reduction/merge_lanes.glsl
// needs pixel_reduction/arrival.glsl
// needs normalization/finish_statistics.glsl
struct collected {
    vec4 pivot;
    statistics s; // of value - pivot
};

shared vec4 pivots[GROUP_SLICES];

collected nothing_collected() {
    return collected(vec4(0.0), statistics(0.0, vec4(0.0), vec4(0.0)));
}

void collect(inout collected c, vec4 value, ivec2 pixel, int slice, int image) {
    if (c.s.n == 0.0)
        c.pivot = value;
    merge(c.s, 1.0, value - c.pivot, vec4(0.0));
}

void leave_collected(int lane, int step, int run, int slice, collected c) {
    if (lane < step)
        pivots[lane] = c.pivot;
    barrier();
    vec4 pivot = pivots[lane % step];
    c.s.mean += c.pivot - pivot;
    merge_lanes(lane, step, c.s);
    if (lane >= step || slice >= destination_slices)
        return;
    leave(run, slice, 0, 0, pivot);
    leave(run, slice, 0, 1, c.s.mean);
    leave(run, slice, 0, 2, c.s.m2);
    leave(run, slice, 0, 3, vec4(c.s.n));
}

// The last group merges what all have left.
void finish_collected(int lane, int slice) {
    if (!arrives_last(lane, slice, 0))
        return;
    slice += lane % GROUP_SLICES;
    int of = min(slice, destination_slices - 1);
    vec4 pivot = left_by(0, of, 0, 0);
    statistics s = statistics(0.0, vec4(0.0), vec4(0.0));
    for (int run = lane / GROUP_SLICES; run < runs; run += LANES / GROUP_SLICES)
        merge(s, left_by(run, of, 0, 3).x, left_by(run, of, 0, 0) - pivot + left_by(run, of, 0, 1),
              left_by(run, of, 0, 2));
    merge_lanes(lane, GROUP_SLICES, s);
    if (lane < GROUP_SLICES && slice < destination_slices)
        finish_statistics(slice, 0, destination_channels, pivot, s);
}
