// f = 1 / (1 + e^-x),  f' = e^-|x| / (1 + e^-|x|)^2
// needs lib/math.glsl
vec4 NAME(vec4 x, vec4 slope) { return sigmoid_precise(x); }
vec4 NAME_derivative(vec4 x, vec4 slope) {
    vec4 e = exp_precise(-abs(x));
    return e / ((1.0 + e) * (1.0 + e));
}
