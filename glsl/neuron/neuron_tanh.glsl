// f = a tanh(b x),  f' = a b (1 - tanh^2(b x)) = a b 4 e / (1 + e)^2,  e = e^(-2 |b x|)
// needs lib/math.glsl
vec4 NAME(vec4 x, vec4 slope) { return NAME_a * tanh_precise(NAME_b * x); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 e = exp_precise(-2.0 * abs(NAME_b * x));
    return NAME_a * NAME_b * 4.0 * e / ((1.0 + e) * (1.0 + e));
}
