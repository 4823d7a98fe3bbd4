// f = a log(1 + e^(b x)),  f' = a b / (1 + e^(-b x))
// needs lib/math.glsl
vec4 NAME(vec4 x, vec4 slope) {
    vec4 v = NAME_b * x;
    return NAME_a * (max(v, vec4(0.0)) + log1p(exp_precise(-abs(v))));
}
vec4 NAME_derivative(vec4 x, vec4 slope) {
    return NAME_a * NAME_b * sigmoid_precise(NAME_b * x);
}
