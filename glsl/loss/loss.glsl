// What a loss reads of a pixel: predictions y, labels t after smoothing, and weights omega.
vec4 prediction(ivec2 at, int slice, int image) {
    return source_edge(first_x + at.x, first_y + at.y, slice, image);
}

vec4 label(ivec2 at, int slice, int image) {
    vec4 t = labels_edge(first_x + at.x, first_y + at.y, slice, image);
    return t * smoothing_scale + smoothing_offset;
}

#ifdef WEIGHTS
vec4 weights_image(ivec2 at, int slice, int image) {
    return weights_edge(first_x + at.x, first_y + at.y, slice, image);
}

vec4 omega(ivec2 at, int slice, int image) { return weight * weights_image(at, slice, image); }
#else
vec4 omega(ivec2 at, int slice, int image) { return vec4(weight); }
#endif
