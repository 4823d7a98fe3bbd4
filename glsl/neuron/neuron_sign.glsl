// f = 1, 0 or -1,  f' = 0
// needs lib/compare.glsl
vec4 NAME(vec4 x, vec4 slope) { return sign_of(x); }
vec4 NAME_derivative(vec4 x, vec4 slope) { return vec4(0.0); }
