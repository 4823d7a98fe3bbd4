// f = log_c(a x + b),  f' = a / (log(c) (a x + b));  c = -1 stands for e
// needs lib/math.glsl
float NAME_rate() { return NAME_c == -1.0 ? 1.0 : log_precise(NAME_c); }
vec4 NAME(vec4 x, vec4 slope) { return log_precise(NAME_a * x + NAME_b) / NAME_rate(); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    return NAME_a / (NAME_rate() * (NAME_a * x + NAME_b));
}
