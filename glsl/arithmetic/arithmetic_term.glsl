// What result pixel (X, Y) adds to the gradient of the source pixel and channel that it reads:
//     term(X) = G(X) * dr/dv(X),   0 where r was clamped (CLAMP_MASK), but for a NaN in dr/dv
//     add, subtract (OPERATION 0)    dr/dv = scale
//     multiply (1)                   dr/dv = scale * other
//     divide by the primary (2)      dr/dv = scale / y
//     divide by the secondary (3)    dr/dv = -kept / y,  kept the quotient
//     maximum, minimum by the primary (4) and secondary (5)   dr/dv = scale share, scale (1 - share)
//     power by the base (6)          dr/dv = scale e x^(e - 1),  x = kept, e = exponent_scale y
//     power by the exponent (7)      dr/dv = scale x^e log x, 0 where x is 0 and e not below
// Components beyond the last channel are 0.
// Mali's older GPUs (T8xx: 16 registers) spill up to 18 values where a power's terms are summed over
// axes that were broadcast, for the reason in neuron/neuron.glsl, and a V3D 7.1 with Mesa 25 spills 5 in a
// power's term by the base behind loops over windows; no other term was seen to spill.
// needs lib/channels.glsl
// needs lib/compare.glsl
// needs arithmetic/result_index.glsl
#ifdef CLAMP_MASK
#define PRODUCT(g, rate) times(g, rate)
#else
#define PRODUCT(g, rate) (g * rate)
#endif

#if OPERATION == 6
vec4 power_rate(vec4 x, vec4 e) { return scale * times(e, pow_precise(x, e - 1.0)); }
#elif OPERATION == 7
vec4 power_rate(vec4 x, vec4 e) {
    vec4 rate = scale * times(pow_precise(x, e), log_precise(x));
    return mix(rate, vec4(0.0), both(equal(x, vec4(0.0)), greaterThanEqual(e, vec4(0.0))));
}
#endif

#if OPERATION == 4 || OPERATION == 5
vec4 share_at(int index) {
    int halves = int(shares[index]);
    return 0.5 * vec4(ivec4(halves) >> ivec4(0, 2, 4, 6) & ivec4(3));
}
#endif

vec4 term(int X, int Y, int slice, int image) {
    vec4 g = gradient(X, Y, slice, image);
#if defined(CLAMP_MASK) || OPERATION >= 3
    int index = result_index(X, Y, slice, image,
                             ivec3(gradient_width, gradient_height, gradient_slices));
#endif
#ifdef CLAMP_MASK
    int within = int(clamp_mask[index]);
    g = mix(vec4(0.0), g, notEqual(ivec4(within) & ivec4(1, 2, 4, 8), ivec4(0)));
#endif
#if OPERATION == 0
    return scale * g;
#elif OPERATION == 1
    return PRODUCT(g, scale * secondary_operand(X, Y, slice, image));
#else
#if OPERATION == 2
    vec4 rate = scale / secondary_operand(X, Y, slice, image);
#elif OPERATION == 3
    vec4 rate = -kept[index] / secondary_operand(X, Y, slice, image);
#elif OPERATION == 4
    vec4 rate = scale * share_at(index);
#elif OPERATION == 5
    vec4 rate = scale - scale * share_at(index);
#else
    vec4 rate = power_rate(kept[index], exponent_scale * secondary_operand(X, Y, slice, image));
#endif
    return mix(vec4(0.0), PRODUCT(g, rate), is_channel(slice, gradient_channels));
#endif
}
