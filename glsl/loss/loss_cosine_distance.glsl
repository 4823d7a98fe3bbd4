// loss = weight (1 - sum y t): the 1 is added once, at the end.  l = -y t,  d = -t
vec4 NAME_loss(vec4 y, vec4 t) { return -y * t; }
vec4 NAME_gradient(vec4 y, vec4 t) { return -t; }
