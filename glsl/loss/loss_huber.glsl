// l = |e| <= delta ? e^2 / 2 : delta^2 / 2 + delta (|e| - delta),  d = clamp(e, -delta, delta),
// with e = y - t.  As q = min(|e|, delta), both branches are q (|e| - q / 2).
// needs lib/compare.glsl
vec4 NAME_loss(vec4 y, vec4 t) {
    vec4 e = abs(y - t);
    vec4 q = at_most(e, NAME_delta);
    return q * (e - 0.5 * q);
}
vec4 NAME_gradient(vec4 y, vec4 t) { return held(y - t, -NAME_delta, NAME_delta); }
