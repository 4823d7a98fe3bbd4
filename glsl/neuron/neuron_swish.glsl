// f = x s(u),  f' = s(u) + u s(u) (1 - s(u)),  u = a x,  s(u) = 1 / (1 + e^-u)
// needs lib/compare.glsl
// needs lib/math.glsl
vec4 NAME(vec4 x, vec4 slope) { return times(sigmoid_precise(NAME_a * x), x); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 u = NAME_a * x;
    vec4 e = exp_precise(-abs(u));
    vec4 s = mix(e, vec4(1.0), greaterThanEqual(u, vec4(0.0))) / (1.0 + e);
    return s + times(e / ((1.0 + e) * (1.0 + e)), u);
}
