// f = x P(x),  f' = P(x) + x p(x)
//     P(x) = (1 + erf(x / sqrt 2)) / 2,   p(x) = P'(x) = e^(-x^2 / 2) / sqrt(2 pi)
// f is good to 1e-6 of itself.
// needs lib/compare.glsl
// needs lib/normal.glsl

// P(x),  y = |x| but 15 at most,  b = normal_bell(y)
vec4 NAME_share(vec4 x, vec4 y, vec4 b) {
    vec4 below = normal_tail(y, b);
    return mix(below, 1.0 - below, greaterThanEqual(x, vec4(0.0)));
}

vec4 NAME(vec4 x, vec4 slope) {
    vec4 y = min(abs(x), vec4(15.0));
    return times(NAME_share(x, y, normal_bell(y)), x);
}
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 y = min(abs(x), vec4(15.0));
    vec4 b = normal_bell(y);
    return NAME_share(x, y, b) + times(b * 0.398942280, x);
}
