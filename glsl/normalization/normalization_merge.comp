// mean, M2 of FAN_IN neighbouring runs of slice at.y, group at.z
// needs normalization/merge_statistics.glsl
void invocation(ivec3 at) {
    int first = at.x * FAN_IN;
    statistics s = merge_runs(first, min(first + FAN_IN, runs), at.y, at.z);
    store_merged(at.x, 0, at.y, 2 * at.z, s.mean);
    store_merged(at.x, 0, at.y, 2 * at.z + 1, s.m2);
}
