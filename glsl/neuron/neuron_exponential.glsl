// f = c^(a x + b),  f' = a log(c) f;  c = -1 stands for e
// needs lib/math.glsl
vec4 neuron(vec4 x, vec4 slope) {
    vec4 v = neuron_a * x + neuron_b;
    return neuron_c == -1.0 ? exp_precise(v) : pow_precise(vec4(neuron_c), v);
}
vec4 neuron_derivative(vec4 x, vec4 slope) {
    float rate = neuron_c == -1.0 ? 1.0 : log_precise(neuron_c);
    return neuron_a * rate * neuron(x, slope);
}
