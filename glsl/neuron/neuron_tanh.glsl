// f = a tanh(b x),  f' = a b (1 - tanh^2(b x)) = a b 4 e / (1 + e)^2,  e = e^(-2 |b x|)
// needs lib/math.glsl
vec4 neuron(vec4 x, vec4 slope) { return neuron_a * tanh_precise(neuron_b * x); }
vec4 neuron_derivative(vec4 x, vec4 slope) {
    vec4 e = exp_precise(-2.0 * abs(neuron_b * x));
    return neuron_a * neuron_b * 4.0 * e / ((1.0 + e) * (1.0 + e));
}
