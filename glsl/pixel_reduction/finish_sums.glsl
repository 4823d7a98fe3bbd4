// first_sum (+)= `first`,   second_sum (+)= `second`, with TWO_SUMS; of one slice of one group of
// images: a vector holds group after group.
void finish_sums(int slice, int group, int channels, vec4 first, vec4 second) {
    for (int i = 0; i < 4; i++) {
        int c = group * channels + slice * 4 + i;
        if (slice * 4 + i >= channels)
            break;
#ifdef ACCUMULATE
        first[i] += first_sum[c];
#endif
        first_sum[c] = first[i];
#ifdef TWO_SUMS
#ifdef ACCUMULATE
        second[i] += second_sum[c];
#endif
        second_sum[c] = second[i];
#endif
    }
}
