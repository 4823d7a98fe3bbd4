// How a body reads NAME beyond its edges. ALL_INSIDE: whatever it reads lies within.
vec4 NAME_clamp(int x, int y, int slice, int image) {
    return NAME(clamp(x, 0, NAME_width - 1), clamp(y, 0, NAME_height - 1), slice, image);
}

vec4 NAME_zero(int x, int y, int slice, int image) {
#ifdef ALL_INSIDE
    return NAME(x, y, slice, image);
#else
    vec4 v = NAME_clamp(x, y, slice, image);
    return is_within(x, y, NAME_width, NAME_height) ? v : vec4(0.0);
#endif
}

vec4 NAME_edge(int x, int y, int slice, int image) {
#if defined(EDGE_CLAMP) && !defined(ALL_INSIDE)
    return NAME_clamp(x, y, slice, image);
#else
    return NAME_zero(x, y, slice, image);
#endif
}
