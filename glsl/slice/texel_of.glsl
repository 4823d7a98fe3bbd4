// The texel with channel, row and column p. GRADIENT: only columns and rows begin .. end - 1 count.
vec4 texel_of(ivec3 p, int image) {
    vec4 v = source_clamp(p.z, p.y, min(p.x, source_channels - 1) >> 2, image);
#ifdef GRADIENT
    bool counts = p.z >= begin_x && p.y >= begin_y && p.z < end_x && p.y < end_y;
    return counts ? v : vec4(0.0);
#else
    return v;
#endif
}
