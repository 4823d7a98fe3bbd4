// l = |y - t|,  d = sign(y - t)
// needs lib/compare.glsl
vec4 NAME_loss(vec4 y, vec4 t) { return abs(y - t); }
vec4 NAME_gradient(vec4 y, vec4 t) { return sign_of(y - t); }
