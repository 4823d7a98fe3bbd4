// out(X) = pm + ps * (Xc - p0 * Mn) * T^-beta, with the statistics of window X
// needs normalization/scale_power.glsl
// needs normalization/local_statistics.glsl
void invocation(ivec2 at, int slice, int image) {
    local_statistics s = statistics_of(at.x, at.y, slice, image);
    vec4 power = scale_power(s.scale);
    store_destination(at.x, at.y, slice, image, pm + ps * s.contrast * power);
}
