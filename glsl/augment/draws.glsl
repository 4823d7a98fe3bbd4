// What is drawn for an image, by its number and the epoch: channels 0 to 3 and 4 to 7 of "numbers",
// bytes as 255ths, the lowest first.
// needs lib/philox.glsl
uint number_of(vec4 bytes) {
    uvec4 b = uvec4(bytes * 255.0 + 0.5);
    return b.x | b.y << 8 | b.z << 16 | b.w << 24;
}

// Are they bytes? By their bits: those of floats from 0 to 1 are whole numbers in order, up to 1's.
bool is_numbered(int image) {
    uvec4 bits = max(floatBitsToUint(numbers(0, 0, 0, image)),
                     floatBitsToUint(numbers(0, 0, 1, image)));
    return all(lessThanEqual(bits, uvec4(0x3f800000u)));
}

float nan() { return uintBitsToFloat(0x7fc00000u); }

// Four words of stream 0, of the geometry; 1, of the colours; 2, of noise, by the texel.
uvec4 drawn(int image, uint stream, uint texel) {
    uvec2 number = uvec2(number_of(numbers(0, 0, 0, image)), number_of(numbers(0, 0, 1, image)));
    return philox(uvec4(number, stream, texel), uvec2(uint(seed_low), uint(seed_high)));
}

// A whole number of 0 .. count - 1: floor(word count / 2^32)
int below(uint word, int count) {
    uint high;
    uint low;
    umulExtended(word, uint(count), high, low);
    return int(high);
}

// A whole number of -most .. most.
int around_zero(uint word, int most) { return below(word, 2 * most + 1) - most; }
