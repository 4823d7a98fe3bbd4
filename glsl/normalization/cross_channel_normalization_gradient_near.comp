// As normalization/cross_channel_normalization_gradient.comp, of small windows and in one pass: an
// invocation goes through slices of one pixel, and finishes each when the terms U of the next, which
// its windows reach, are made.
// needs lib/gather.glsl
// needs normalization/scale_power.glsl
// needs normalization/cross_channel_near.glsl
struct slice_terms {
    vec4 x;    // X(k)
    vec4 kept; // G(k) * L(k)^-beta
    vec4 u;    // U(k)
};

vec4 read(ivec2 u, int slice, int image) {
    vec4 v = seen(u.x, u.y, clamp(slice, 0, source_slices - 1), image);
    return is_slice(slice, source_slices) ? v : vec4(0.0);
}

slice_terms terms_of(vec4 before, vec4 x, vec4 after, vec4 g) {
    vec4 scale = scale_near(before, x, after);
    vec4 kept = g * scale_power(scale);
    return slice_terms(x, kept, x * kept * (slope / scale));
}

void go_through(ivec3 at, ivec2 u, int image, int first, int end) {
    slice_terms none = slice_terms(vec4(0.0), vec4(0.0), vec4(0.0));
    slice_terms here = none;
    vec4 u_before = vec4(0.0);
    vec4 before = read(u, first - 2, image);
    vec4 x = read(u, first - 1, image);
    for (int slice = first - 1; slice <= end; slice++) {
        vec4 after = read(u, slice + 1, image);
        slice_terms next = none;
        if (is_slice(slice, source_slices))
            next = terms_of(before, x, after, gathered(u.x, u.y, slice, image));
        if (slice > first) {
            vec4 sum = sums_near(u_before, here.u, next.u, -AFTER, BEFORE);
            store_destination(at.x, at.y, slice - 1, image, here.kept - here.x * sum);
        }
        u_before = here.u;
        here = next;
        before = x;
        x = after;
    }
}

void invocation(ivec3 at) {
    int image = at.z / runs;
    int first = (at.z - image * runs) * run;
    int end = min(first + run, source_slices);
    ivec2 u = at.xy + ivec2(shift_x, shift_y);
    if (is_seen(u.x, u.y) && is_read(u.x, u.y)) {
        go_through(at, u, image, first, end);
        return;
    }
    for (int slice = first; slice < end; slice++)
        store_destination(at.x, at.y, slice, image, vec4(0.0));
}
