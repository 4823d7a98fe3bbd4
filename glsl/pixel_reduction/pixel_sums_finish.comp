// first_sum (+)= sum of the columns of a group's first image,   second_sum (+)= of its second, with
// TWO_SUMS; of slice at.y, group at.z: a vector holds group after group.
// needs pixel_reduction/sum_runs.glsl
#ifdef TWO_SUMS
#define IMAGES 2
#else
#define IMAGES 1
#endif

void invocation(ivec3 at) {
    vec4 first = sum_runs(0, runs, at.y, IMAGES * at.z);
    vec4 second = sum_runs(0, runs, at.y, IMAGES * at.z + IMAGES - 1);
    for (int i = 0; i < 4; i++) {
        int c = at.z * partial_channels + at.y * 4 + i;
        if (at.y * 4 + i >= partial_channels)
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
