// l = (p - t)^2 b,  d = 2 (p - t) p (1 - p) b + (p - t)^3,  with p = 1 / (1 + exp(-y)) and
// b = max(y, 0) - y t + log(1 + exp(-|y|))
// needs lib/compare.glsl
// needs lib/math.glsl
vec4 NAME_entropy(vec4 y, vec4 t) { return at_least(y, 0.0) - y * t + log1p(exp_precise(-abs(y))); }
vec4 NAME_loss(vec4 y, vec4 t) {
    vec4 e = sigmoid_precise(y) - t;
    return e * e * NAME_entropy(y, t);
}
vec4 NAME_gradient(vec4 y, vec4 t) {
    vec4 p = sigmoid_precise(y);
    vec4 e = p - t;
    return e * (2.0 * p * sigmoid_precise(-y) * NAME_entropy(y, t) + e * e);
}
