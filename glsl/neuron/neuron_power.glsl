// f = (a x + b)^c,  f' = a c (a x + b)^(c - 1), at a base of 0 held in -3.4e38 .. 3.4e38
// needs lib/math.glsl
vec4 NAME(vec4 x, vec4 slope) { return pow_precise(NAME_a * x + NAME_b, vec4(NAME_c)); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 base = NAME_a * x + NAME_b;
    vec4 rate = NAME_a * NAME_c * pow_precise(base, vec4(NAME_c - 1.0));
    return mix(rate, held(rate, -3.4e38, 3.4e38), equal(base, vec4(0.0)));
}
