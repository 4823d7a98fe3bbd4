// l = -t log y,  d = -t / y;  both 0 where t = 0, whatever number y is
// needs lib/math.glsl
// needs loss/loss.glsl
vec4 element_loss(vec4 y, vec4 t) { return without_label(y, t, -t * log_precise(y)); }
vec4 element_gradient(vec4 y, vec4 t) { return without_label(y, t, -t / y); }
