// f = x >= 0 ? x : slope x,  f' = x >= 0 (left: x > 0) ? 1 : slope;  g df/dslope = x >= 0 ? 0 : g x
// A NaN goes through by itself: both sides of the comparison have it.
// needs lib/compare.glsl
// needs neuron/neuron.glsl
vec4 NAME(vec4 x, vec4 slope) {
    return mix(times(slope, x), x, greaterThanEqual(x, vec4(0.0)));
}
vec4 NAME_derivative(vec4 x, vec4 slope) { return by_kink(x, slope, vec4(1.0), NAME_left); }
vec4 NAME_by_slope(vec4 x, vec4 g) { return by_sign(x, g * x, vec4(0.0)); }
