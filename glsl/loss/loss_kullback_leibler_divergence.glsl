// l = t (log t - y), 0 where t = 0;  d = -t;  y is the logarithm of a probability
// needs lib/math.glsl
// needs loss/loss.glsl
vec4 element_loss(vec4 y, vec4 t) { return without_label(y, t, t * (log_precise(t) - y)); }
vec4 element_gradient(vec4 y, vec4 t) { return -t; }
