// out(X) = the sum, or with LARGEST 1 or -1 the largest or smallest, over i of term(X, i), where i
// goes along a row (AXIS 0), a column (AXIS 1) or the slices of channels (AXIS 2).
// A sum is scale * sum / divisor, WEIGHTED of source times weights; with ARGUMENT the channel of
// the extreme is stored. For the gradient, with INDICES, indices(X) = the i of the extreme, of channels
// its number; of equals the first. One invocation owns one result. Long sums are made of runs of 32, so that
// their error grows with the length of a run and with the number of runs, not with the product.
// needs lib/channels.glsl
// needs lib/compare.glsl
#if AXIS == 0
#define POSITION(i) first_x + at.x + i, first_y + at.y, slice, image
#elif AXIS == 1
#define POSITION(i) first_x + at.x, first_y + at.y + i, slice, image
#else
#define POSITION(i) first_x + at.x, first_y + at.y, i, image
#endif

// Numbers of what the four components of term 0 are, and how many each term has.
#if AXIS == 2
#define FIRST vec4(0.0, 1.0, 2.0, 3.0)
#define STEP  4
#else
#define FIRST vec4(0.0)
#define STEP  1
#endif

#ifdef LARGEST
// Components beyond the last channel take the value of the slice's first, which never loses to
// them.
vec4 term(ivec2 at, int slice, int image, int i) {
    vec4 v = float(LARGEST) * source(POSITION(i));
#if AXIS == 2
    v = mix(v.xxxx, v, is_channel(i, source_channels));
#endif
    return v;
}

#ifdef INDICES
void keep_for_gradient(ivec2 at, int slice, int image, vec4 where) {
#if AXIS == 2
    indices[(image * destination_height + at.y) * destination_width + at.x] = where.x;
#else
    int layer = image * destination_slices + slice;
    indices[(layer * destination_height + at.y) * destination_width + at.x] = where;
#endif
}
#endif

bool beats(float value, float where, float best, float best_where) {
    bool same = value == best || (is_nan(vec4(value)).x && is_nan(vec4(best)).x);
    return wins(vec4(value), vec4(best)).x || (same && where < best_where);
}

vec4 reduced(ivec2 at, int slice, int image) {
    vec4 best = term(at, slice, image, 0);
    vec4 where = FIRST;
    for (int i = 1; i < count; i++) {
        vec4 value = term(at, slice, image, i);
        bvec4 better = wins(value, best);
        best = mix(best, value, better);
        where = mix(where, float(STEP * i) + FIRST, better);
    }
#if AXIS == 2
    for (int c = 1; c < 4; c++) {
        bool better = beats(best[c], where[c], best.x, where.x);
        best.x = better ? best[c] : best.x;
        where.x = better ? where[c] : where.x;
    }
#endif
#ifdef INDICES
    keep_for_gradient(at, slice, image, where);
#endif
#ifdef ARGUMENT
    return where;
#else
    return float(LARGEST) * best;
#endif
}
#else
vec4 reduced(ivec2 at, int slice, int image) {
    vec4 sum = vec4(0.0);
    vec4 used = vec4(0.0);
    for (int start = 0; start < count; start += 32) {
        int end = min(start + 32, count);
        vec4 run = vec4(0.0);
        for (int i = start; i < end; i++) {
            vec4 v = source(POSITION(i));
#ifdef WEIGHTED
            vec4 w = weights(weights_x + at.x, weights_y + at.y, i, image);
            used += vec4(notEqual(w, vec4(0.0)));
            v *= w;
#endif
            run += v;
        }
        sum += run;
    }
#if AXIS == 2
    sum.x = (sum.x + sum.y) + (sum.z + sum.w);
#endif
#ifdef BY_NON_ZERO
    return scale * sum / max((used.x + used.y) + (used.z + used.w), 1.0);
#else
    return scale * sum / divisor;
#endif
}
#endif

#if AXIS == 2
void invocation(ivec3 at) { store_destination(at.x, at.y, 0, at.z, reduced(at.xy, 0, at.z)); }
#else
void invocation(ivec2 at, int slice, int image) {
    store_destination(at.x, at.y, slice, image, reduced(at, slice, image));
}
#endif
