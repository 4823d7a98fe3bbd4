// sums[first_sum + i] = source[i] + source[i + sum_count] + ..., or the same of SQUARES; with SCALED
// of unscale * source
void invocation(ivec3 at) {
    float sum = 0.0;
    for (int i = at.x; i < source_count; i += sum_count) {
        float value = source[i];
#ifdef SCALED
        value *= unscale;
#endif
#ifdef SQUARES
        value *= value;
#endif
        sum += value;
    }
    sums[first_sum + at.x] = sum;
}
