// f = slope x,  f' = slope;  g df/dslope = g x
vec4 NAME(vec4 x, vec4 slope) { return slope * x; }
vec4 NAME_derivative(vec4 x, vec4 slope) { return slope; }
vec4 NAME_by_slope(vec4 x, vec4 g) { return g * x; }
