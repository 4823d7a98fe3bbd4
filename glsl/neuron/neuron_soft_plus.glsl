// f = a log(1 + e^(b x)),  f' = a b / (1 + e^(-b x))
// needs lib/math.glsl
vec4 neuron(vec4 x, vec4 slope) {
    vec4 v = neuron_b * x;
    return neuron_a * (max(v, vec4(0.0)) + log1p(exp_precise(-abs(v))));
}
vec4 neuron_derivative(vec4 x, vec4 slope) {
    return neuron_a * neuron_b * sigmoid_precise(neuron_b * x);
}
