// gradient_for_beta (+)= sum of image 2 at.z,   gradient_for_gamma (+)= sum of image 2 at.z + 1
// of slice at.y, group at.z; a vector holds group after group.
void invocation(ivec3 at) {
    vec4 for_beta = sum_runs(0, runs, at.y, 2 * at.z);
    vec4 for_gamma = sum_runs(0, runs, at.y, 2 * at.z + 1);
    for (int i = 0; i < 4; i++) {
        int c = at.z * partial_channels + at.y * 4 + i;
        if (at.y * 4 + i >= partial_channels)
            break;
#ifdef ACCUMULATE
        for_beta[i] += gradient_for_beta[c];
        for_gamma[i] += gradient_for_gamma[c];
#endif
        gradient_for_beta[c] = for_beta[i];
        gradient_for_gamma[c] = for_gamma[i];
    }
}
