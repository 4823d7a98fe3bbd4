// f = the greatest whole number that is not above x,  f' = 0
// needs lib/compare.glsl
vec4 NAME(vec4 x, vec4 slope) { return or_nan(floor(x), x); }
vec4 NAME_derivative(vec4 x, vec4 slope) { return vec4(0.0); }
