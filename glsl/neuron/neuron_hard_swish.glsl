// f = x h,  h = a x + b held in 0 .. 1;  f' = 0 where a x + b < 0, 1 from 1 on, else 2 a x + b
// needs lib/compare.glsl
vec4 NAME(vec4 x, vec4 slope) { return times(held(NAME_a * x + NAME_b, 0.0, 1.0), x); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 v = NAME_a * x + NAME_b;
    vec4 d = mix(vec4(0.0), v + NAME_a * x, greaterThanEqual(v, vec4(0.0)));
    return or_nan(mix(d, vec4(1.0), greaterThanEqual(v, vec4(1.0))), v);
}
