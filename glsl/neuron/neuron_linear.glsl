// f = a x + b,  f' = a
vec4 neuron(vec4 x, vec4 slope) { return neuron_a * x + neuron_b; }
vec4 neuron_derivative(vec4 x, vec4 slope) { return vec4(neuron_a); }
