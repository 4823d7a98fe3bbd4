// mean = pivot + mean of all runs, merged with what is held already,   variance = M2 / n
// of one slice of one group; a vector holds group after group. s: of value - pivot.
// needs pixel_reduction/partial_statistics.glsl
void finish_statistics(int slice, int group, int channels, vec4 pivot, statistics s) {
    for (int i = 0; i < 4; i++) {
        int c = group * channels + slice * 4 + i;
        if (slice * 4 + i >= channels)
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
