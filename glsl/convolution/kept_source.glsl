// The source below a tile of 16x16 pixels, of one slice of an image, kept by a group of 128
// invocations, each of which owns two pixels of a column. 0 outside low .. high, or clamped.
#define TILE       16
#define KEPT_WIDTH (TILE + KERNEL_WIDTH - 1)
#define KEPT       (KEPT_WIDTH * (TILE + KERNEL_HEIGHT - 1))
#define LOADS      ((KEPT + 127) / 128)

shared vec4 kept_source[KEPT];

vec4 kept(ivec2 at) { return kept_source[at.y * KEPT_WIDTH + at.x]; }

ivec2 own_pixel(int lane) { return ivec2(lane & 15, lane >> 4 << 1); }

vec4 source_below(int i, ivec2 corner, int slice, int image) {
    int y = i / KEPT_WIDTH;
    ivec2 t = corner + ivec2(i - y * KEPT_WIDTH, y);
    ivec2 inside = clamp(t, ivec2(low_x, low_y), ivec2(high_x, high_y));
    vec4 value = source(inside.x, inside.y, min(slice, source_slices - 1), image);
#ifdef EDGE_CLAMP
    return value;
#else
    return t == inside ? value : vec4(0.0);
#endif
}

void keep_source(int lane, ivec2 corner, int slice, int image) {
    for (int n = 0; n < LOADS; n++) {
        int i = lane + 128 * n;
        if (i < KEPT)
            kept_source[i] = source_below(i, corner, slice, image);
    }
}
