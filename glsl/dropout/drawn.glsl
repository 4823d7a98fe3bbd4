// Which of elements 4i .. 4i + 3 of the mask of an image are kept: u < keep_probability, where u is
// the upper 24 bits of a word of philox((i, image, encode_number, 0), seed) as a fraction. That is a
// word < kept_below = 2^8 ceil(2^24 keep_probability).
// needs lib/philox.glsl
bvec4 drawn(int i, int image) {
    uvec4 counter = uvec4(i, image, encode_number, 0);
    uvec4 words = philox(counter, uvec2(uint(seed_low), uint(seed_high)));
    return lessThan(words, uvec4(uint(kept_below)));
}

// Bit k is 1 where component k is kept.
int bits_of(bvec4 kept) {
    ivec4 bits = mix(ivec4(0), ivec4(1, 2, 4, 8), kept);
    return bits.x | bits.y | bits.z | bits.w;
}
