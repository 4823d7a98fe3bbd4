// l = t (log t - y), 0 where t = 0;  d = -t;  y is the logarithm of a probability
// needs lib/math.glsl
// needs loss/without_label.glsl
vec4 NAME_loss(vec4 y, vec4 t) { return without_label(y, t, t * (log_precise(t) - y)); }
vec4 NAME_gradient(vec4 y, vec4 t) { return -t; }
