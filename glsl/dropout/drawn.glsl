// Which of elements 4i .. 4i + 3 of the mask of an image are kept: u < keep_probability, where u is
// the upper 24 bits of a word of philox((i, image, encode_number, 0), seed) as a fraction.
// needs lib/philox.glsl
bvec4 drawn(int i, int image) {
    uvec4 counter = uvec4(i, image, encode_number, 0);
    uvec4 words = philox(counter, uvec2(uint(seed_low), uint(seed_high)));
    return lessThan(vec4(words >> 8) * exp2(-24.0), vec4(keep_probability));
}

// Bit k is 1 where component k is kept.
int bits_of(bvec4 kept) {
    ivec4 bits = ivec4(kept) << ivec4(0, 1, 2, 3);
    return bits.x | bits.y | bits.z | bits.w;
}
