// Sums of FAN_IN neighbouring runs, for each slice at.y and image at.z
// needs pixel_reduction/sum_runs.glsl
void invocation(ivec3 at) {
    int first = at.x * FAN_IN;
    store_merged(at.x, 0, at.y, at.z, sum_runs(first, min(first + FAN_IN, runs), at.y, at.z));
}
