// f = c^(a x + b),  f' = a log(c) f;  c = -1 stands for e
// needs lib/math.glsl
vec4 NAME(vec4 x, vec4 slope) {
    vec4 v = NAME_a * x + NAME_b;
    return NAME_c == -1.0 ? exp_precise(v) : pow_precise(vec4(NAME_c), v);
}
vec4 NAME_derivative(vec4 x, vec4 slope) {
    float rate = NAME_c == -1.0 ? 1.0 : log_precise(NAME_c);
    return NAME_a * rate * NAME(x, slope);
}
