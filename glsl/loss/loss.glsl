// What a loss reads of a pixel: predictions y, labels t after smoothing, and weights omega.
// needs lib/compare.glsl
vec4 prediction(ivec2 at, int slice, int image) {
    return source_edge(first_x + at.x, first_y + at.y, slice, image);
}

vec4 label(ivec2 at, int slice, int image) {
    vec4 t = labels_edge(first_x + at.x, first_y + at.y, slice, image);
    return t * smoothing_scale + smoothing_offset;
}

// 0 where there is no label, but for a NaN in the prediction.
vec4 without_label(vec4 y, vec4 t, vec4 value) {
    return or_nan(mix(value, vec4(0.0), equal(t, vec4(0.0))), y);
}

#ifdef WEIGHTS
vec4 weights_image(ivec2 at, int slice, int image) {
    return weights_edge(first_x + at.x, first_y + at.y, slice, image);
}

vec4 omega(ivec2 at, int slice, int image) { return weight * weights_image(at, slice, image); }
#else
vec4 omega(ivec2 at, int slice, int image) { return vec4(weight); }
#endif
