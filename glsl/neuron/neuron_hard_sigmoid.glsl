// f = a x + b held in 0 .. 1,  f' = a where a x + b is in 0 .. 1, else 0
// needs lib/compare.glsl
vec4 neuron(vec4 x, vec4 slope) { return held(neuron_a * x + neuron_b, 0.0, 1.0); }
vec4 neuron_derivative(vec4 x, vec4 slope) {
    vec4 v = neuron_a * x + neuron_b;
    return or_nan(mix(vec4(0.0), vec4(neuron_a), equal(v, clamp(v, 0.0, 1.0))), v);
}
