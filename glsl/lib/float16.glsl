// Rounds to the nearest number that a 16-bit float holds, ties to even; overflow gives infinity.
// Drivers differ in how imageStore rounds (some truncate), so it is given exact values only.
//   normal range    add half of the last kept bit, less one when that bit is even; drop 13 bits
//   below 2^-14     a whole number of steps of 2^-24, the spacing of subnormals
// Most vectors hold neither subnormals nor what overflows: these are asked for all at once.
// needs lib/compare.glsl
#ifdef PACKS_FLOAT16
// Where packHalf2x16 rounds so, its bits are stored.
uvec4 float16_bits(vec4 v) {
    uvec2 pairs = uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
    return uvec4(pairs.x & 0xffffu, pairs.x >> 16, pairs.y & 0xffffu, pairs.y >> 16);
}

vec4 round_to_float16(vec4 v) {
    return vec4(unpackHalf2x16(packHalf2x16(v.xy)), unpackHalf2x16(packHalf2x16(v.zw)));
}
#elif defined(SUMS_ROUND)
// Where float sums round to the nearest, ties to even, one does it: |v| + 2^13 p, with p the power of
// two of v, or 2^-14 below it, ends with the last bit that float16 keeps of v. Compilers would leave
// out adding a number and its negative; they do not recognise p * 8192 and p * -8192 as such.
vec4 round_to_float16(vec4 v) {
    uvec4 sign = floatBitsToUint(v) & 0x80000000u;
    vec4 power = max(uintBitsToFloat(floatBitsToUint(v) & 0x7f800000u), 6.103515625e-5);
    vec4 magnitude = abs(v);
    vec4 rounded = (magnitude + power * 8192.0) + power * -8192.0;
    float most = max(max(magnitude.x, magnitude.y), max(magnitude.z, magnitude.w));
    if (floatBitsToUint(most) >= 0x477ff000u) { // 65520, or a NaN
        vec4 infinite = uintBitsToFloat(uvec4(0x7f800000u));
        rounded = mix(rounded, infinite, greaterThanEqual(magnitude, vec4(65520.0)));
        rounded = or_nan(rounded, v);
    }
    return uintBitsToFloat(floatBitsToUint(rounded) | sign);
}
#else
uvec4 rounded_bits(uvec4 bits) { return (bits + 0xfffu + ((bits >> 13) & 1u)) & 0xffffe000u; }

// Whether each is 0, or of the normal range and below what rounds to infinity.
bool round_to_normal(uvec4 magnitude) {
    uvec4 above = magnitude - 1u; // that of 0 is the largest
    uint least = min(min(above.x, above.y), min(above.z, above.w));
    uint most = max(max(magnitude.x, magnitude.y), max(magnitude.z, magnitude.w));
    return least >= 0x387fffffu && most < 0x477ff000u;
}

vec4 round_any_to_float16(vec4 v, uvec4 bits, uvec4 magnitude) {
    uvec4 normal = rounded_bits(magnitude);
    vec4 small = roundEven(uintBitsToFloat(magnitude) * 16777216.0) / 16777216.0;
    vec4 rounded = mix(uintBitsToFloat(normal), small, lessThan(magnitude, uvec4(0x38800000u)));
    rounded = mix(rounded, uintBitsToFloat(uvec4(0x7f800000u)),
                  greaterThanEqual(normal, uvec4(0x47800000u)));
    uvec4 sign = bits & 0x80000000u;
    return or_nan(uintBitsToFloat(sign | floatBitsToUint(rounded)), v);
}

vec4 round_to_float16(vec4 v) {
    uvec4 bits = floatBitsToUint(v);
    uvec4 magnitude = bits & 0x7fffffffu;
    if (round_to_normal(magnitude))
        return uintBitsToFloat(rounded_bits(bits));
    return round_any_to_float16(v, bits, magnitude);
}
#endif
