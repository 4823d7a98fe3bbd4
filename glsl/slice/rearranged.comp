// out(c, y, x) = source(place(c, y, x)), a permutation that a library beside this file has as
//     ivec3 place(ivec3 at)     of channel, row and column
// WHOLE_SLICES: four channels of one texel come from one texel. GRADIENT: of the source only the
// columns and rows begin .. end - 1 count.
vec4 texel_of(ivec3 p, int image) {
    vec4 v = source_clamp(p.z, p.y, min(p.x, source_channels - 1) >> 2, image);
#ifdef GRADIENT
    bool counts = p.z >= begin_x && p.y >= begin_y && p.z < end_x && p.y < end_y;
    return counts ? v : vec4(0.0);
#else
    return v;
#endif
}

void invocation(ivec2 at, int slice, int image) {
#ifdef WHOLE_SLICES
    vec4 v = texel_of(place(ivec3(4 * slice, at.y, at.x)), image);
#else
    vec4 v = vec4(0.0);
    for (int i = 0; i < 4; i++) {
        ivec3 p = place(ivec3(4 * slice + i, at.y, at.x));
        v[i] = texel_of(p, image)[p.x & 3];
    }
#endif
    store_destination(at.x, at.y, slice, image, v);
}
