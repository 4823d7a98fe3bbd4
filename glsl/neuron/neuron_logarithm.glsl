// f = log_c(a x + b),  f' = a / (log(c) (a x + b));  c = -1 stands for e
// needs lib/math.glsl
float neuron_rate() { return neuron_c == -1.0 ? 1.0 : log_precise(neuron_c); }
vec4 neuron(vec4 x, vec4 slope) { return log_precise(neuron_a * x + neuron_b) / neuron_rate(); }
vec4 neuron_derivative(vec4 x, vec4 slope) {
    return neuron_a / (neuron_rate() * (neuron_a * x + neuron_b));
}
