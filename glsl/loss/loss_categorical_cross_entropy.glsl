// l = -t log y,  d = -t / y;  both 0 where t = 0, whatever number y is
// needs lib/math.glsl
// needs loss/without_label.glsl
vec4 NAME_loss(vec4 y, vec4 t) { return without_label(y, t, -t * log_precise(y)); }
vec4 NAME_gradient(vec4 y, vec4 t) { return without_label(y, t, -t / y); }
