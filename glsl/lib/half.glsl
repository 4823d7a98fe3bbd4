// Rounds to the nearest number that a 16-bit float holds, ties to even; overflow gives infinity.
// Drivers differ in how imageStore rounds (some truncate), so it is given exact values only.
//   normal range    add half of the last kept bit, less one when that bit is even; drop 13 bits
//   below 2^-14     a whole number of steps of 2^-24, the spacing of subnormal halves
float round_to_half(float v) {
    uint bits = floatBitsToUint(v);
    uint magnitude = bits & 0x7fffffffu;
    uint sign = bits & 0x80000000u;
    uint normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u)) & 0xffffe000u;
    uint small = floatBitsToUint(roundEven(uintBitsToFloat(magnitude) * 16777216.0) / 16777216.0);
    uint rounded = magnitude < 0x38800000u ? small : normal;
    rounded = normal >= 0x47800000u ? 0x7f800000u : rounded;
    rounded = magnitude > 0x7f800000u ? magnitude : rounded;
    return uintBitsToFloat(sign | rounded);
}

vec4 round_to_half(vec4 v) {
    return vec4(round_to_half(v.x), round_to_half(v.y), round_to_half(v.z), round_to_half(v.w));
}
