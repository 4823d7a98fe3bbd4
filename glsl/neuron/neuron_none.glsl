// f = x,  f' = 1
vec4 NAME(vec4 x, vec4 slope) { return x; }
vec4 NAME_derivative(vec4 x, vec4 slope) { return vec4(1.0); }
