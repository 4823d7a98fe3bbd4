// f = min(r, b),  r = x >= 0 ? x : a x;  f' = r < b ? (x >= 0 (left: x > 0) ? 1 : a) : 0
// needs lib/compare.glsl
// needs neuron/neuron.glsl
vec4 NAME_inner(vec4 x) { return by_sign(x, times(vec4(NAME_a), x), x); }
vec4 NAME(vec4 x, vec4 slope) { return at_most(NAME_inner(x), NAME_b); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 d = by_kink(x, vec4(NAME_a), vec4(1.0), NAME_left);
    return or_nan(mix(vec4(0.0), d, lessThan(NAME_inner(x), vec4(NAME_b))), x);
}
