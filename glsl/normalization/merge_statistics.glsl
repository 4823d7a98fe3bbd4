// Partial statistics of runs of `span` rows out of `rows`, each `row_pixels` long; the last run may
// be shorter. Means of a group lie in image 2 group of texture "partial", sums of squares in the
// next.
// needs pixel_reduction/partial_statistics.glsl
float pixels_of(int run) { return float(row_pixels * (min((run + 1) * span, rows) - run * span)); }

// Runs first .. end - 1, in this order.
statistics merge_runs(int first, int end, int slice, int group) {
    statistics s = statistics(pixels_of(first), partial(first, 0, slice, 2 * group),
                              partial(first, 0, slice, 2 * group + 1));
    for (int run = first + 1; run < end; run++)
        merge(s, pixels_of(run), partial(run, 0, slice, 2 * group),
              partial(run, 0, slice, 2 * group + 1));
    return s;
}
