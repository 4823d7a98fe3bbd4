// total[c] = sum over groups of part[group * channels + c], in their order
// Some are read before the first of them is added: reads then wait for one another no more than the
// sums do.
#define READS 8
void invocation(ivec3 at) {
    float sum = 0.0;
    for (int group = 0; group < groups; group += READS) {
        float v[READS];
        for (int i = 0; i < READS; i++)
            v[i] = part[min(group + i, groups - 1) * grid_x + at.x];
        for (int i = 0; i < READS; i++)
            sum += group + i < groups ? v[i] : 0.0;
    }
    total[at.x] = sum;
}
