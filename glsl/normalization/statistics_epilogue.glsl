// Mean and variance of what a pass stores (pixel_reduction/epilogue.glsl). A lane takes its values
// relative to its first, a group to the first of its first lane, and all groups to that of run 0, so
// that values which differ little beside their mean keep their digits.
//     GROUP_SLICES   of a work group, a power of two
// needs pixel_reduction/merge_lanes.glsl
// needs pixel_reduction/last_block.glsl
// needs normalization/finish_statistics.glsl
#define AT_ONCE 4

struct reduced {
    vec4 pivot;
    statistics s; // of value - pivot
};

shared vec4 pivots[GROUP_SLICES];

reduced empty_reduced() {
    return reduced(vec4(0.0), statistics(0.0, vec4(0.0), vec4(0.0)));
}

void reduce_value(inout reduced c, vec4 value, ivec2 pixel, int slice, int image) {
    if (c.s.n == 0.0)
        c.pivot = value;
    merge(c.s, 1.0, value - c.pivot, vec4(0.0));
}

void write_run(int lane, int step, int run, int slice, reduced c) {
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
    leave_number(run, slice, 0, 12, c.s.n);
}

// Of a slice, the runs from `first` on that are `apart` from each other, relative to `pivot`. Several
// are read at a time: each alone would be waited for.
statistics merge_runs(int first, int apart, int slice, vec4 pivot) {
    statistics s = statistics(0.0, vec4(0.0), vec4(0.0));
    for (int begin = first; begin < runs; begin += AT_ONCE * apart) {
        statistics of[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++) {
            int run = min(begin + i * apart, runs - 1);
            of[i] = statistics(number_left(run, slice, 0, 12),
                               left_by(run, slice, 0, 0) - pivot + left_by(run, slice, 0, 1),
                               left_by(run, slice, 0, 2));
        }
        for (int i = 0; i < AT_ONCE; i++)
            if (begin + i * apart < runs)
                merge(s, of[i].n, of[i].mean, of[i].m2);
    }
    return s;
}

reduced read_runs(int first, int apart, int slice) {
    vec4 pivot = left_by(0, slice, 0, 0);
    return reduced(pivot, merge_runs(first, apart, slice, pivot));
}

void merge_reduced(int lane, int step, inout reduced c) { merge_lanes(lane, step, c.s); }

void store_reduced(int slice, reduced c) {
    finish_statistics(slice, 0, destination_channels, c.pivot, c.s);
}
