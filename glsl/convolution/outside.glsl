// v where all bits of `inside` are set, or 0 where none is: what a fetch beyond the texture gives is
// undefined, and 0 * v would keep a NaN. MASKS: bit by bit, where a choice takes two instructions a
// component.
vec4 zero_unless(vec4 v, int inside) {
#ifdef MASKS
    return uintBitsToFloat(floatBitsToUint(v) & uvec4(inside));
#else
    return mix(vec4(0.0), v, bvec4(inside != 0));
#endif
}

// The same by x within low .. high. COLUMNS_INSIDE: no x is outside.
#ifdef COLUMNS_INSIDE
#define zero_outside(v, x, low, high) (v)
#else
#define zero_outside(v, x, low, high) zero_unless(v, ~(((x) - (low) | (high) - (x)) >> 31))
#endif
