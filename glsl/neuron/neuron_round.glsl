// f = the whole number next to x, of two the even one,  f' = 0
// needs lib/compare.glsl
vec4 NAME(vec4 x, vec4 slope) { return or_nan(roundEven(x), x); }
vec4 NAME_derivative(vec4 x, vec4 slope) { return vec4(0.0); }
