// v, or 0 where x is outside low .. high: what a fetch beyond the texture gives is undefined, and
// 0 * v would keep a NaN. MASKS: bit by bit, where a choice takes two instructions a component.
// COLUMNS_INSIDE: no x is outside.
#ifdef COLUMNS_INSIDE
#define zero_outside(v, x, low, high) (v)
#else
vec4 zero_outside(vec4 v, int x, int low, int high) {
    int outside = ((x - low) | (high - x)) >> 31;
#ifdef MASKS
    return uintBitsToFloat(floatBitsToUint(v) & uvec4(~outside));
#else
    return mix(v, vec4(0.0), bvec4(outside != 0));
#endif
}
#endif
