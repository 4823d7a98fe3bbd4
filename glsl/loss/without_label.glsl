// 0 where there is no label, but for a NaN in the prediction.
// needs lib/compare.glsl
vec4 without_label(vec4 y, vec4 t, vec4 value) {
    return or_nan(mix(value, vec4(0.0), equal(t, vec4(0.0))), y);
}
