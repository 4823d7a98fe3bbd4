// l = t (log t - y), 0 where t = 0;  d = -t;  y is the logarithm of a probability
vec4 element_loss(vec4 y, vec4 t) {
    return mix(t * (log_precise(t) - y), vec4(0.0), equal(t, vec4(0.0)));
}
vec4 element_gradient(vec4 y, vec4 t) { return -t; }
