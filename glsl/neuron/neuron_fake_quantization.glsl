// f = a (x / a rounded, held in b .. c),  f' = 1 where x / a rounded is in b .. c, else 0
// needs lib/compare.glsl
vec4 NAME(vec4 x, vec4 slope) { return NAME_a * held(roundEven(x / NAME_a), NAME_b, NAME_c); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 v = roundEven(x / NAME_a);
    return or_nan(mix(vec4(0.0), vec4(1.0), equal(v, clamp(v, NAME_b, NAME_c))), x);
}
