// f = x + slope,  f' = 1;  g df/dslope = g
vec4 NAME(vec4 x, vec4 slope) { return x + slope; }
vec4 NAME_derivative(vec4 x, vec4 slope) { return vec4(1.0); }
vec4 NAME_by_slope(vec4 x, vec4 g) { return g; }
