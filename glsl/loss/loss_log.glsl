// l = -t log(y + epsilon) - (1 - t) log(1 - y + epsilon)
// d = (y - t + epsilon (1 - 2 t)) / ((y + epsilon) (1 - y + epsilon))
// needs lib/math.glsl
vec4 NAME_loss(vec4 y, vec4 t) {
    return -t * log_precise(y + NAME_epsilon) - (1.0 - t) * log_precise(1.0 - y + NAME_epsilon);
}
vec4 NAME_gradient(vec4 y, vec4 t) {
    return ((y - t) + NAME_epsilon * (1.0 - 2.0 * t)) /
           ((y + NAME_epsilon) * (1.0 - y + NAME_epsilon));
}
