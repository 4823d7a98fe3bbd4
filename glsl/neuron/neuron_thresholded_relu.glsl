// f = x > a ? x : 0,  f' = x > a ? 1 : 0
// needs lib/compare.glsl
vec4 NAME(vec4 x, vec4 slope) {
    return or_nan(mix(vec4(0.0), x, greaterThan(x, vec4(NAME_a))), x);
}
vec4 NAME_derivative(vec4 x, vec4 slope) {
    return or_nan(mix(vec4(0.0), vec4(1.0), greaterThan(x, vec4(NAME_a))), x);
}
