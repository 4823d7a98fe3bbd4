// f = x >= 0 ? x : a x,  f' = x >= 0 (left: x > 0) ? 1 : a
// needs lib/compare.glsl
// needs neuron/neuron.glsl
vec4 NAME(vec4 x, vec4 slope) { return by_sign(x, times(vec4(NAME_a), x), x); }
vec4 NAME_derivative(vec4 x, vec4 slope) { return by_kink(x, vec4(NAME_a), vec4(1.0), NAME_left); }
