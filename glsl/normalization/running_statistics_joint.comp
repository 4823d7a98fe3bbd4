// What running_statistics.comp does, for the means and variances of many layers. Each element has
// what is kept of its average and the share of the batch; the gaps between layers have 0.
// needs normalization/running_statistics.glsl
void invocation(ivec3 at) {
    vec2 weight = weights[at.x];
    running[at.x] = moved(running[at.x], weight.x * running[at.x] + weight.y * batch[at.x]);
}
