// The sums of all columns of a group's first image and, with TWO_SUMS, of its second; of slice
// at.y, group at.z. With COEFFICIENTS a library makes more of them: from memory, so that it has the bits
// that a pass behind this one would have.
// needs pixel_reduction/finish_sums.glsl
// needs pixel_reduction/sum_runs.glsl
#ifdef TWO_SUMS
#define IMAGES 2
#else
#define IMAGES 1
#endif

void invocation(ivec3 at) {
    vec4 first = sum_runs(0, runs, at.y, IMAGES * at.z);
    vec4 second = sum_runs(0, runs, at.y, IMAGES * at.z + IMAGES - 1);
    finish_sums(at.y, at.z, partial_channels, first, second);
#ifdef COEFFICIENTS
    memoryBarrierBuffer();
    make_coefficients(at.y, at.z);
#endif
}
