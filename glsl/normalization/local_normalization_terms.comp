// What result X adds to the gradients of the pixels of its window, for the pass
// local_normalization_gradient:
//     A = ps * G * T^-beta
//     B = (2 alpha beta / N) * A * (Xc - p0 * Mn) / T
//     C = A * p0 / N + B * (Xc - Mn)                     with ABOUT_MEAN
// A, B and C are images side by side in "terms", whose pixel 0 is result begin.
// Mali's older GPUs (T8xx: 16 registers) spill up to 6 values: two sums over the window follow each
// other.
// needs normalization/scale_power.glsl
// needs normalization/local_statistics.glsl
void invocation(ivec2 at, int slice, int image) {
    int X = at.x + begin_x;
    int Y = at.y + begin_y;
    local_statistics s = statistics_of(X, Y, slice, image);
    vec4 a = ps * gradient_zero(X, Y, slice, image) * scale_power(s.scale);
    vec4 b = a * s.contrast * (decline / s.scale);
    store_terms(at.x, at.y, slice, image, a);
    store_terms(at.x, at.y, slice, image + gradient_images, b);
#ifdef ABOUT_MEAN
    store_terms(at.x, at.y, slice, image + 2 * gradient_images, a * (p0 / TAPS) - b * s.offset);
#endif
}
