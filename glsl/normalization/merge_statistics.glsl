// Partial statistics of runs. Means of a group lie in image 2 group of texture "partial", sums of
// squares in the next.
// needs normalization/pixels_of_runs.glsl
// needs pixel_reduction/partial_statistics.glsl

// Runs first .. end - 1, in this order; AT_ONCE are read at a time.
statistics merge_runs(int first, int end, int slice, int group) {
    statistics s = statistics(pixels_of(first), partial(first, 0, slice, 2 * group),
                              partial(first, 0, slice, 2 * group + 1));
    for (int begin = first + 1; begin < end; begin += AT_ONCE) {
        vec4 mean[AT_ONCE], m2[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++) {
            int run = min(begin + i, end - 1);
            mean[i] = partial(run, 0, slice, 2 * group);
            m2[i] = partial(run, 0, slice, 2 * group + 1);
        }
        for (int i = 0; i < AT_ONCE; i++)
            if (begin + i < end)
                merge(s, pixels_of(begin + i), mean[i], m2[i]);
    }
    return s;
}
