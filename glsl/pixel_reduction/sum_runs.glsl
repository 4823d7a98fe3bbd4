// Sum of columns first .. end - 1 of texture "partial", in this order.
vec4 sum_runs(int first, int end, int slice, int image) {
    vec4 sum = partial(first, 0, slice, image);
    for (int run = first + 1; run < end; run++)
        sum += partial(run, 0, slice, image);
    return sum;
}
