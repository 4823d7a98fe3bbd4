// f = |x|,  f' = sign x
// needs lib/compare.glsl
vec4 NAME(vec4 x, vec4 slope) { return abs(x); }
vec4 NAME_derivative(vec4 x, vec4 slope) { return sign_of(x); }
