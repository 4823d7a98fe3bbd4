// f = x,  f' = 1
vec4 neuron(vec4 x, vec4 slope) { return x; }
vec4 neuron_derivative(vec4 x, vec4 slope) { return vec4(1.0); }
