// Mean and variance of slice at.y, group at.z, and with COEFFICIENTS what a library makes of them: from
// memory, so that it has the bits that a pass behind this one would have.
// needs normalization/finish_statistics.glsl
// needs normalization/merge_statistics.glsl
void invocation(ivec3 at) {
    vec4 pivot = source(0, 0, at.y, at.z * rows / image_rows);
    finish_statistics(at.y, at.z, partial_channels, pivot, merge_runs(0, runs, at.y, at.z));
#ifdef COEFFICIENTS
    memoryBarrierBuffer();
    make_coefficients(at.y, at.z);
#endif
}
