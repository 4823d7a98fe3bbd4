// Rounds to the nearest number that a 16-bit float holds, ties to even; overflow gives infinity.
// Drivers differ in how imageStore rounds (some truncate), so it is given exact values only.
//   normal range    add half of the last kept bit, less one when that bit is even; drop 13 bits
//   below 2^-14     a whole number of steps of 2^-24, the spacing of subnormal halves
// needs lib/compare.glsl
vec4 round_to_half(vec4 v) {
    uvec4 bits = floatBitsToUint(v);
    uvec4 magnitude = bits & 0x7fffffffu;
    uvec4 normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u)) & 0xffffe000u;
    vec4 small = roundEven(uintBitsToFloat(magnitude) * 16777216.0) / 16777216.0;
    vec4 rounded = mix(uintBitsToFloat(normal), small, lessThan(magnitude, uvec4(0x38800000u)));
    rounded = mix(rounded, uintBitsToFloat(uvec4(0x7f800000u)),
                  greaterThanEqual(normal, uvec4(0x47800000u)));
    uvec4 sign = bits & 0x80000000u;
    return or_nan(uintBitsToFloat(sign | floatBitsToUint(rounded)), v);
}
