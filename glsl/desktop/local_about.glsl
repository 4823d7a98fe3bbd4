// For statistics of pixels relative to one of them nearby, `about`.
// needs normalization/local_statistics.glsl
// The pixel's value where it is finite, for other pixels to be relative to.
vec4 about_pixel(ivec2 at, int slice, int image) {
#ifdef ABOUT_MEAN
    vec4 v = source_clamp(at.x, at.y, slice, image);
    uvec4 size = floatBitsToUint(v) & uvec4(0x7fffffffu);
    return mix(v, vec4(0.0), greaterThanEqual(size, uvec4(0x7f800000u)));
#else
    return vec4(0.0);
#endif
}

// Of a window whose mean and sum of squares about it are known; its centre is relative too.
local_statistics statistics_about(vec4 centre, vec4 mean, vec4 squares, vec4 about) {
    vec4 offset = mean - centre;
#ifdef ABOUT_MEAN
    vec4 contrast = (1.0 - p0) * (centre + about) - p0 * offset;
#else
    vec4 contrast = centre;
#endif
    return local_statistics(centre, offset, contrast,
                            delta + alpha * (squares / float(TAPS_X * TAPS_Y)));
}
