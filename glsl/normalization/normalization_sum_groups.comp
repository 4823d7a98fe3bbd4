// total[c] = sum over groups of part[group * channels + c], in their order
void invocation(ivec3 at) {
    float sum = 0.0;
    for (int group = 0; group < groups; group++)
        sum += part[group * grid_x + at.x];
    total[at.x] = sum;
}
