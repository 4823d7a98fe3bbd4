// As soft_max/soft_max.comp, of few channels: all SLICES of a pixel are kept at once, so that each
// is read once and has its exponential found once.
// needs lib/channels.glsl
// needs lib/math.glsl
// needs soft_max/exponential.glsl
// needs lib/unrolled.glsl
#define READ(i) \
    { AT(kept, i, SLICES) = source_edge(first_x + at.x, first_y + at.y, i, at.z); }
#define ENLARGE(i) \
    { m = max(m, slice_max(AT(kept, i, SLICES), i, source_channels)); }
#ifdef LOGARITHM
#define ADD(i) \
    { add_slice(terms, slice_sum(exponential(AT(kept, i, SLICES) - m), i, source_channels), i); }
#define STORE(i) \
    { store_destination(at.x, at.y, i, at.z, AT(kept, i, SLICES) - m - log_sum); }
#else
#define ADD(i) \
    { \
        AT(kept, i, SLICES) = exponential(AT(kept, i, SLICES) - m); \
        add_slice(terms, slice_sum(AT(kept, i, SLICES), i, source_channels), i); \
    }
#define STORE(i) \
    { store_destination(at.x, at.y, i, at.z, AT(kept, i, SLICES) / sum); }
#endif

void invocation(ivec3 at) {
    vec4 kept[SLICES];
    UP_TO_SIXTEEN(READ, SLICES)
    float m = kept[0].x;
    UP_TO_SIXTEEN(ENLARGE, SLICES)
    long_sum terms = long_sum(0.0, 0.0);
    UP_TO_SIXTEEN(ADD, SLICES)
    float sum = total_of(terms);
#ifdef LOGARITHM
    float log_sum = log_precise(vec4(sum)).x;
#endif
    UP_TO_SIXTEEN(STORE, SLICES)
}
