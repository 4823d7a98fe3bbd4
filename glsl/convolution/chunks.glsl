// The sum of one number of all chunks, in runs of so many: what
// convolution/convolution_gradient_merge.comp and a sum of its runs come to. `first`: where that of the
// first chunk is; `apart`: how far those of the next are.
vec4 sum_of_chunks(int first, int apart, int chunks, int of_run) {
    vec4 sum = vec4(0.0);
    for (int chunk = 0; chunk < chunks;) {
        int end = min(chunk + of_run, chunks);
        vec4 run = vec4(0.0);
        for (; chunk < end; chunk++)
            run += partial_sums[first + chunk * apart];
        sum += run;
    }
    return sum;
}
