// Partial statistics of runs of `span` rows out of `rows`, each `row_pixels` long; the last run may
// be shorter. Means lie in image 0 of texture "partial", sums of squares in image 1.
float pixels_of(int run) { return float(row_pixels * (min((run + 1) * span, rows) - run * span)); }

// Runs first .. end - 1, in this order.
statistics merge_runs(int first, int end, int slice) {
    statistics s = statistics(pixels_of(first), partial(first, 0, slice, 0), partial(first, 0, slice, 1));
    for (int run = first + 1; run < end; run++)
        merge(s, pixels_of(run), partial(run, 0, slice, 0), partial(run, 0, slice, 1));
    return s;
}
