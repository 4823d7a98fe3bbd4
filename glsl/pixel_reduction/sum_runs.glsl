// Sum of columns first .. end - 1 of texture "partial", in this order; AT_ONCE are read at a time.
vec4 sum_runs(int first, int end, int slice, int image) {
    vec4 sum = partial(first, 0, slice, image);
    for (int begin = first + 1; begin < end; begin += AT_ONCE) {
        vec4 of[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++)
            of[i] = partial(min(begin + i, end - 1), 0, slice, image);
        for (int i = 0; i < AT_ONCE; i++)
            if (begin + i < end)
                sum += of[i];
    }
    return sum;
}
