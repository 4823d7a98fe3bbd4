// mask(i) = 1 if u(i) < keep_probability, else 0;   u(i) = the upper 24 bits of word i mod 4 of
// philox((i / 4, image, encode_number, 0), seed) as a fraction
// One invocation draws the four values of one counter; at.x is the counter, at.y the image.
// needs lib/philox.glsl
void invocation(ivec3 at) {
    uvec4 counter = uvec4(at.x, at.y, uint(encode_number), 0u);
    uvec4 words = philox(counter, uvec2(uint(seed_low), uint(seed_high)));
    for (int word = 0; word < 4; word++) {
        int i = at.x * 4 + word;
        float u = float(words[word] >> 8) * exp2(-24.0);
        if (i < length_of_image)
            mask[at.y * length_of_image + i] = u < keep_probability ? 1.0 : 0.0;
    }
}
