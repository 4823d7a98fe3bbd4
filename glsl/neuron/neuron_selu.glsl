// f = b (x >= 0 ? x : a (e^x - 1)),  f' = b (x >= 0 (left: x > 0) ? 1 : a e^x)
// needs lib/math.glsl
// needs neuron/neuron.glsl
vec4 NAME(vec4 x, vec4 slope) { return NAME_b * by_sign(x, NAME_a * expm1(x), x); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    return NAME_b * by_kink(x, NAME_a * exp_precise(x), vec4(1.0), NAME_left);
}
