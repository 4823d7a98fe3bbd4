// l = max(1 - s y, 0),  d = 1 - s y > 0 ? -s : 0,  with s = 2 t - 1
// needs lib/compare.glsl
vec4 element_loss(vec4 y, vec4 t) { return at_least(1.0 - (2.0 * t - 1.0) * y, 0.0); }
vec4 element_gradient(vec4 y, vec4 t) {
    vec4 s = 2.0 * t - 1.0;
    vec4 l = 1.0 - s * y;
    return or_nan(mix(vec4(0.0), -s, greaterThan(l, vec4(0.0))), l);
}
