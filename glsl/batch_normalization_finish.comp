// mean = mean of all runs and of what the state holds,   variance = M2 / n
void invocation(ivec3 at) {
    statistics s = merge_runs(0, runs, at.y);
    for (int i = 0; i < 4; i++) {
        int c = at.y * 4 + i;
        if (c >= partial_channels)
            break;
        statistics one = statistics(s.n, vec4(s.mean[i]), vec4(s.m2[i]));
#ifdef ACCUMULATE
        statistics sum = statistics(samples, vec4(mean[c]), vec4(variance[c] * samples));
        merge(sum, one.n, one.mean, one.m2);
        one = sum;
#endif
        mean[c] = one.mean.x;
        variance[c] = one.m2.x / one.n;
    }
}
