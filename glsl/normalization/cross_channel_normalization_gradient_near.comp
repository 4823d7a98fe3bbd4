// As normalization/cross_channel_normalization_gradient.comp, of small windows and in one pass: an
// invocation goes through slices of one pixel, and finishes each when the terms U of the next, which
// its windows reach, are made.
// needs lib/gather.glsl
// needs normalization/scale_power.glsl
// needs normalization/cross_channel_near.glsl
// needs lib/unrolled.glsl
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
    return slice_terms(x, kept, x * kept * over_scale(decline, scale));
}

// Where it is: the source before `slice` and of it, U before the slice that waits for its next, and
// that slice.
struct walker {
    vec4 before, x, u_before;
    slice_terms waits;
};

const slice_terms no_terms = slice_terms(vec4(0.0), vec4(0.0), vec4(0.0));

// Returns what is to be stored for the slice before.
vec4 pass_slice(inout walker w, int slice, vec4 after, vec4 g) {
    slice_terms next = no_terms;
    if (is_slice(slice, source_slices))
        next = terms_of(w.before, w.x, after, g);
    vec4 sum = sums_near(w.u_before, w.waits.u, next.u, -AFTER, BEFORE);
    vec4 value = w.waits.kept - w.waits.x * sum;
    w = walker(w.x, after, w.waits.u, next);
    return value;
}

// Two slices at a time: all that they need is read before the first is stored.
#define TOGETHER 2
#define READ(i) \
    { \
        AT(after, i, TOGETHER) = read(u, slice + i + 1, image); \
        AT(g, i, TOGETHER) = gathered(u.x, u.y, clamp(slice + i, 0, source_slices - 1), image); \
    }
#define PASS(i) \
    { \
        vec4 value = pass_slice(w, slice + i, AT(after, i, TOGETHER), AT(g, i, TOGETHER)); \
        if (slice + i > first && slice + i <= end) \
            store_destination(at.x, at.y, slice + i - 1, image, value); \
    }

void go_through(ivec3 at, ivec2 u, int image, int first, int end) {
    walker w = walker(read(u, first - 2, image), read(u, first - 1, image), vec4(0.0), no_terms);
    for (int slice = first - 1; slice <= end; slice += TOGETHER) {
        vec4 after[TOGETHER], g[TOGETHER];
        UP_TO_FOUR(READ, TOGETHER)
        UP_TO_FOUR(PASS, TOGETHER)
    }
}

void invocation(ivec3 at) {
    int image = layer_quotient(at.z, runs);
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
