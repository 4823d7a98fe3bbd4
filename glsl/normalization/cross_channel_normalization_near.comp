// As normalization/cross_channel_normalization.comp, of small windows: an invocation goes through
// slices of one pixel and reads each once.
// needs normalization/scale_power.glsl
// needs normalization/cross_channel_near.glsl
vec4 read(ivec2 u, int slice, int image) {
    vec4 v = source_edge(u.x, u.y, clamp(slice, 0, source_slices - 1), image);
    return is_slice(slice, source_slices) ? v : vec4(0.0);
}

vec4 normalized(vec4 before, vec4 v, vec4 after) {
    return v * scale_power(scale_near(before, v, after));
}

void invocation(ivec3 at) {
    int image = layer_quotient(at.z, runs);
    int first = (at.z - image * runs) * run;
    int end = min(first + run, source_slices);
    ivec2 u = ivec2(first_x, first_y) + at.xy;
    vec4 before = read(u, first - 1, image);
    vec4 v = read(u, first, image);
    for (int slice = first; slice < end; slice++) {
        vec4 after = read(u, slice + 1, image);
        store_destination(at.x, at.y, slice, image, normalized(before, v, after));
        before = v;
        v = after;
    }
}
