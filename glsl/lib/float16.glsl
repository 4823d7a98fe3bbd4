// Rounds to the nearest number that a 16-bit float holds, ties to even; overflow gives infinity, and a NaN stays one.
// Drivers differ in how imageStore rounds (some truncate), so it is given exact values only.
#ifdef PACKS_FLOAT16
// Where packHalf2x16 rounds so, its bits are stored.
uvec4 float16_bits(vec4 v) {
    uvec2 pairs = uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
    return uvec4(pairs.x & 0xffffu, pairs.x >> 16, pairs.y & 0xffffu, pairs.y >> 16);
}

vec4 round_to_float16(vec4 v) {
    return vec4(unpackHalf2x16(packHalf2x16(v.xy)), unpackHalf2x16(packHalf2x16(v.zw)));
}
#else
//     roundEven(v 2^10 / p) p / 2^10,   p = the power of two of v, at least 2^-14, which subnormals share
// since float16 keeps 10 bits behind the first. 2^k is made of its bits, k + 127 from bit 23 on. Where v is a NaN, or
// 65520 or more, the result is v times infinity.
vec4 round_to_float16(vec4 v) {
    uvec4 magnitude = floatBitsToUint(v) & 0x7fffffffu;
    uvec4 power = max(magnitude, 0x38800000u) & 0x7f800000u;
    vec4 digits = roundEven(v * uintBitsToFloat((264u << 23) - power));
    vec4 rounded = digits * uintBitsToFloat(power - (10u << 23));
    vec4 infinite = v * uintBitsToFloat(uvec4(0x7f800000u));
    return mix(rounded, infinite, greaterThanEqual(magnitude, uvec4(0x477ff000u)));
}
#endif
