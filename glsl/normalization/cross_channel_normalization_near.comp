// As normalization/cross_channel_normalization.comp, of small windows: an invocation goes through
// slices of one pixel and reads each once.
// needs normalization/scale_power.glsl
// needs normalization/cross_channel_near.glsl
// needs lib/unrolled.glsl
vec4 read(ivec2 u, int slice, int image) {
    vec4 v = source_edge(u.x, u.y, clamp(slice, 0, source_slices - 1), image);
    return is_slice(slice, source_slices) ? v : vec4(0.0);
}

// Four slices at a time: all that they need is read before the first is stored.
#define READ(i) \
    { v[i + 2] = read(u, slice + i + 1, image); }
#define STORE(i) \
    { \
        vec4 value = v[i + 1] * scale_power(scale_near(v[i], v[i + 1], v[i + 2])); \
        if (slice + i < end) \
            store_destination(at.x, at.y, slice + i, image, value); \
    }

void invocation(ivec3 at) {
    int image = at.z / runs;
    int first = (at.z - image * runs) * run;
    int end = min(first + run, source_slices);
    ivec2 u = ivec2(first_x, first_y) + at.xy;
    vec4 v[6];
    v[4] = read(u, first - 1, image);
    v[5] = read(u, first, image);
    for (int slice = first; slice < end; slice += 4) {
        v[0] = v[4];
        v[1] = v[5];
        UP_TO_FOUR(READ, 4)
        UP_TO_FOUR(STORE, 4)
    }
}
