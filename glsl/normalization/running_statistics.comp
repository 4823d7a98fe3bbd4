// running_mean     = (1 - momentum) * running_mean     + momentum * mean
// running_variance = (1 - momentum) * running_variance + momentum * variance * M / (M - 1)
// kept = 1 - momentum;    variance_share = momentum * M / (M - 1)
// needs normalization/running_statistics.glsl
void invocation(ivec3 at) {
    running_mean[at.x] =
        moved(running_mean[at.x], kept * running_mean[at.x] + mean_share * mean[at.x]);
    running_variance[at.x] = moved(running_variance[at.x], kept * running_variance[at.x] +
                                                               variance_share * variance[at.x]);
}
