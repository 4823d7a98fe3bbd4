// l = max(y, 0) - y t + log(1 + exp(-|y|)),  d = 1 / (1 + exp(-y)) - t
// needs lib/compare.glsl
// needs lib/math.glsl
vec4 NAME_loss(vec4 y, vec4 t) { return at_least(y, 0.0) - y * t + log1p(exp_precise(-abs(y))); }
vec4 NAME_gradient(vec4 y, vec4 t) { return sigmoid_precise(y) - t; }
