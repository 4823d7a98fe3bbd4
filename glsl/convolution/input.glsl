// in(t, .) of a slice: 0 outside low .. high, or clamped
vec4 input_at(ivec2 t, int slice, int image) {
    ivec2 inside = clamp(t, ivec2(low_x, low_y), ivec2(high_x, high_y));
    vec4 value = source(inside.x, inside.y, slice, image);
#ifdef EDGE_CLAMP
    return value;
#else
    return t == inside ? value : vec4(0.0);
#endif
}
