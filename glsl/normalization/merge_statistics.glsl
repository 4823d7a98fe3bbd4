// Partial statistics of runs. Means of a group lie in image 2 group of texture "partial", sums of
// squares in the next.
// needs normalization/pixels_of_runs.glsl
// needs pixel_reduction/partial_statistics.glsl

// Runs first .. end - 1, in this order.
statistics merge_runs(int first, int end, int slice, int group) {
    statistics s = statistics(pixels_of(first), partial(first, 0, slice, 2 * group),
                              partial(first, 0, slice, 2 * group + 1));
    for (int run = first + 1; run < end; run++)
        merge(s, pixels_of(run), partial(run, 0, slice, 2 * group),
              partial(run, 0, slice, 2 * group + 1));
    return s;
}
