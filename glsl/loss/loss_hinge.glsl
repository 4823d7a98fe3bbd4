// l = max(1 - s y, 0),  d = 1 - s y > 0 ? -s : 0,  with s = 2 t - 1
// needs lib/compare.glsl

// A choice, which compilers leave alone: NVIDIA's makes 2 t y - y of (2 t - 1) y, a NaN where y is
// infinite.
vec4 NAME_sign_of_label(vec4 t) { return or_nan(2.0 * t - 1.0, t); }

vec4 NAME_loss(vec4 y, vec4 t) { return at_least(1.0 - NAME_sign_of_label(t) * y, 0.0); }
vec4 NAME_gradient(vec4 y, vec4 t) {
    vec4 s = NAME_sign_of_label(t);
    vec4 l = 1.0 - s * y;
    return or_nan(mix(vec4(0.0), -s, greaterThan(l, vec4(0.0))), l);
}
