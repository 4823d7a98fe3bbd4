// l = (p - t)^2 b,  d = 2 (p - t) p (1 - p) b + (p - t)^3,  with p = 1 / (1 + exp(-y)),
// b = max(y, 0) - y t + log(1 + q) and q = exp(-|y|), of which p (1 - p) = q / (1 + q)^2: one exponential
// for all, or Mali's older GPUs spill. A NaN goes through q.
// needs lib/math.glsl
struct NAME_terms {
    vec4 difference, slope, entropy; // p - t, p (1 - p), b
};
NAME_terms NAME_terms_of(vec4 y, vec4 t) {
    vec4 q = exp_precise(-abs(y));
    vec4 r = 1.0 / (1.0 + q);
    return NAME_terms(mix(q, vec4(1.0), greaterThanEqual(y, vec4(0.0))) * r - t, q * r * r,
                      max(y, 0.0) - y * t + log1p_of_share(q));
}
vec4 NAME_loss(vec4 y, vec4 t) {
    NAME_terms a = NAME_terms_of(y, t);
    return a.difference * a.difference * a.entropy;
}
vec4 NAME_gradient(vec4 y, vec4 t) {
    NAME_terms a = NAME_terms_of(y, t);
    return a.difference * (2.0 * a.slope * a.entropy + a.difference * a.difference);
}
