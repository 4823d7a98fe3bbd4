// Elements are floats, or WIDE: four of them.
// A step starts from w = kept * w, kept = 1 - learning_rate * weight_decay; where it DECAYS_IN_PART
// from w itself, but for the first `decayed` elements.
// g = clip(g0) * gradient_rescale + l1 * sign(w) + l2 * w;  where l1 or l2 is 0, w does not count,
// whatever it is.
// needs lib/compare.glsl
#ifdef WIDE
#define REAL vec4
#else
#define REAL float
#endif

// A gradient of NaNs is that of a step that loss scaling gives up: nothing changes.
#ifdef SKIPS_NAN
#define SKIP_NAN(g) \
    if (any(is_nan(vec4(g)))) return;
#else
#define SKIP_NAN(g)
#endif

REAL decayed_value(REAL w, int element) {
#ifdef DECAYS_IN_PART
    return element < decayed ? kept * w : w;
#else
    return kept * w;
#endif
}

REAL prepared(REAL g0, REAL w) {
    REAL g = (apply_clipping != 0 ? held(g0, clip_min, clip_max) : g0) * gradient_rescale;
    g += l1 != 0.0 ? l1 * sign_of(w) : REAL(0.0);
    return g + (l2 != 0.0 ? l2 * w : REAL(0.0));
}
