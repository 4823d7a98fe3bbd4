// f = x >= 0 ? x : a (e^(x / a) - 1),  f' = x >= 0 ? 1 : e^(x / a)
// needs lib/math.glsl
// needs neuron/neuron.glsl
vec4 NAME(vec4 x, vec4 slope) { return by_sign(x, NAME_a * expm1(x / NAME_a), x); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    return by_sign(x, exp_precise(x / NAME_a), vec4(1.0));
}
