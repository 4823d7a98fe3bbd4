// f = x held in a .. b,  f' = 1 where x is in a .. b, else 0
// needs lib/compare.glsl
vec4 NAME(vec4 x, vec4 slope) { return held(x, NAME_a, NAME_b); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    return or_nan(mix(vec4(0.0), vec4(1.0), equal(x, clamp(x, NAME_a, NAME_b))), x);
}
