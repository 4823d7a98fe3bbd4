// mean = pivot + mean of all runs, merged with what is held already,   variance = M2 / n
// of slice at.y, group at.z; a vector holds group after group.
// needs normalization/merge_statistics.glsl
void invocation(ivec3 at) {
    statistics s = merge_runs(0, runs, at.y, at.z);
    vec4 pivot = source(0, 0, at.y, at.z * rows / image_rows);
    for (int i = 0; i < 4; i++) {
        int c = at.z * partial_channels + at.y * 4 + i;
        if (at.y * 4 + i >= partial_channels)
            break;
#ifdef ACCUMULATE
        statistics sum = statistics(samples, vec4(0.0), vec4(variance[c] * samples));
        merge(sum, s.n, vec4(pivot[i] - mean[c] + s.mean[i]), vec4(s.m2[i]));
        mean[c] += sum.mean.x;
        variance[c] = sum.m2.x / sum.n;
#else
        mean[c] = pivot[i] + s.mean[i];
        variance[c] = s.m2[i] / s.n;
#endif
    }
}
