// f = (a x + b)^c,  f' = a c (a x + b)^(c - 1)
// needs lib/math.glsl
vec4 NAME(vec4 x, vec4 slope) { return pow_precise(NAME_a * x + NAME_b, vec4(NAME_c)); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    return NAME_a * NAME_c * pow_precise(NAME_a * x + NAME_b, vec4(NAME_c - 1.0));
}
