// A step starts from w = kept * w, kept = 1 - learning_rate * weight_decay.
// g = clip(g0) * gradient_rescale + l1 * sign(w) + l2 * w
float prepared(float g0, float w) {
    float g = apply_clipping != 0 ? clamp(g0, clip_min, clip_max) : g0;
    return g * gradient_rescale + l1 * sign(w) + l2 * w;
}
