// taps * G / norm of window (X, Y), 0 where the norm is 0, which is recomputed from the source.
// needs pooling/window_norm.glsl
vec4 l2_norm_term(float taps, int X, int Y, int slice, int image) {
    vec4 norm = window_norm(X, Y, slice, image);
    bvec4 none = equal(norm, vec4(0.0));
    vec4 term = taps * gradient(X, Y, slice, image) / mix(norm, vec4(1.0), none);
    return mix(term, vec4(0.0), none);
}
