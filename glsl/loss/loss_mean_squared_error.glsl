// l = (y - t)^2,  d = 2 (y - t)
vec4 NAME_loss(vec4 y, vec4 t) { return (y - t) * (y - t); }
vec4 NAME_gradient(vec4 y, vec4 t) { return 2.0 * (y - t); }
