// gradient_for_beta (+)= sum of image 0,   gradient_for_gamma (+)= sum of image 1
void invocation(ivec3 at) {
    vec4 for_beta = sum_runs(0, runs, at.y, 0);
    vec4 for_gamma = sum_runs(0, runs, at.y, 1);
    for (int i = 0; i < 4; i++) {
        int c = at.y * 4 + i;
        if (c >= partial_channels)
            break;
#ifdef ACCUMULATE
        for_beta[i] += gradient_for_beta[c];
        for_gamma[i] += gradient_for_gamma[c];
#endif
        gradient_for_beta[c] = for_beta[i];
        gradient_for_gamma[c] = for_gamma[i];
    }
}
