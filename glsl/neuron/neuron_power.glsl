// f = (a x + b)^c,  f' = a c (a x + b)^(c - 1)
// needs lib/math.glsl
vec4 neuron(vec4 x, vec4 slope) { return pow_precise(neuron_a * x + neuron_b, vec4(neuron_c)); }
vec4 neuron_derivative(vec4 x, vec4 slope) {
    return neuron_a * neuron_c * pow_precise(neuron_a * x + neuron_b, vec4(neuron_c - 1.0));
}
