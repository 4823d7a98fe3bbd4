// taps * G / norm of window (X, Y), 0 where the norm is 0. Pixel 0 of "norms" is window begin.
vec4 l2_norm_term(float taps, int X, int Y, int slice, int image) {
    vec4 norm = norms_clamp(X - begin_x, Y - begin_y, slice, image);
    bvec4 none = equal(norm, vec4(0.0));
    vec4 term = gradient_clamp(X, Y, slice, image) / mix(norm, vec4(1.0), none);
    return taps * mix(term, vec4(0.0), none);
}
