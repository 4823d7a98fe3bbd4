// out(X, k) = source(x, c),   x = first_x + step_x * X,   rows alike,   c = first_c + step_c * k
// Outside of the source it is the number `outside`, or with MIRRORED or REPLICATED the pixel that stands
// for x. WHOLE_SLICES: step_c is 1 and first_c = 4 * first_slice, so that four channels are one texel.
// needs lib/channels.glsl
#if defined(MIRRORED)
int placed(int x, int size) {
    x = abs(x);
    return x < size ? x : 2 * (size - 1) - x;
}
#elif defined(REPLICATED)
int placed(int x, int size) { return clamp(x, 0, size - 1); }
#else
int placed(int x, int size) { return x; }
#endif

vec4 channels_at(int x, int y, int slice, int image) {
#ifdef WHOLE_SLICES
    int s = slice + first_slice;
    vec4 v = source_clamp(x, y, clamp(s, 0, source_slices - 1), image);
    bvec4 there = is_channel(s, source_channels);
    return s >= 0 ? mix(vec4(outside), v, there) : vec4(outside);
#else
    vec4 v = vec4(outside);
    for (int i = 0; i < 4; i++) {
        int c = first_c + step_c * (4 * slice + i);
        if (c >= 0 && c < source_channels)
            v[i] = source_clamp(x, y, c >> 2, image)[c & 3];
    }
    return v;
#endif
}

void invocation(ivec2 at, int slice, int image) {
    int x = placed(first_x + step_x * at.x, source_width);
    int y = placed(first_y + step_y * at.y, source_height);
    bool inside = is_within(x, y, source_width, source_height);
    vec4 v = channels_at(x, y, slice, image);
    store_destination(at.x, at.y, slice, image, inside ? v : vec4(outside));
}
