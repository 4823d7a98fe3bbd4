// f = x >= 0 ? x : slope x,  f' = x >= 0 ? 1 : slope
// needs lib/compare.glsl
// needs neuron/neuron.glsl
vec4 NAME(vec4 x, vec4 slope) { return by_sign(x, times(slope, x), x); }
vec4 NAME_derivative(vec4 x, vec4 slope) { return by_sign(x, slope, vec4(1.0)); }
