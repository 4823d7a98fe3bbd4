// f = a x + b,  f' = a
vec4 NAME(vec4 x, vec4 slope) { return NAME_a * x + NAME_b; }
vec4 NAME_derivative(vec4 x, vec4 slope) { return vec4(NAME_a); }
