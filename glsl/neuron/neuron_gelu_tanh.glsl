// f = x s(u),  f' = s(u) + x u' s(u) (1 - s(u)),  s(u) = 1 / (1 + e^-u)
//     u = 2 sqrt(2 / pi) (x + 0.044715 x^3):  s(u) = (1 + tanh(u / 2)) / 2
// needs lib/compare.glsl
// needs lib/math.glsl
vec4 NAME_inner(vec4 x) { return x * (0.0713548163 * x * x + 1.59576912); }
vec4 NAME(vec4 x, vec4 slope) { return times(sigmoid_precise(NAME_inner(x)), x); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 u = NAME_inner(x);
    vec4 e = exp_precise(-abs(u));
    vec4 s = mix(e, vec4(1.0), greaterThanEqual(u, vec4(0.0))) / (1.0 + e);
    vec4 rate = x * (0.214064449 * x * x + 1.59576912);
    return s + times(e / ((1.0 + e) * (1.0 + e)), rate);
}
