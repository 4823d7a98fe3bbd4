// f = a x + b held in 0 .. 1,  f' = a where a x + b is in 0 .. 1, else 0
// needs lib/compare.glsl
vec4 NAME(vec4 x, vec4 slope) { return held(NAME_a * x + NAME_b, 0.0, 1.0); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 v = NAME_a * x + NAME_b;
    return or_nan(mix(vec4(0.0), vec4(NAME_a), equal(v, clamp(v, 0.0, 1.0))), v);
}
