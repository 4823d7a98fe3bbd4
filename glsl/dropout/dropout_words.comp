// out = source / keep_probability where it is kept, else 0, of channels by sixteen: one invocation
// has a word of the mask, for four slices of a pixel. With DRAWN it draws the word, and with KEPT
// leaves it in "mask"; otherwise, for the gradient, it takes it from there.
// at.z counts the words of a pixel, of all images.
// needs lib/unrolled.glsl
#ifdef DRAWN
int word_of(int word, int image) {
    int bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= bits_of(drawn(word * 4 + i, image)) << (4 * i);
    return bits;
}
#endif

// All are read before the first is stored: a store between two reads keeps them apart.
#define READ(i) \
    { value[i] = source(at.x, at.y, first_slice + i, image); }
#define STORE(i) \
    { \
        bvec4 kept = notEqual(bits >> 4 * (i) & ivec4(1, 2, 4, 8), ivec4(0)); \
        vec4 scaled = value[i] / keep_probability; \
        store_destination(at.x, at.y, first_slice + i, image, mix(vec4(0.0), scaled, kept)); \
    }

void invocation(ivec3 at) {
    int words = source_slices / 4;
    int image = layer_quotient(at.z, words);
    int first_slice = (at.z - image * words) * 4;
    int word = (at.y * source_width + at.x) * words + first_slice / 4;
    int place = image * (source_width * source_height * words) + word;
#ifdef DRAWN
    int bits = word_of(word, image);
#else
    int bits = int(mask[place]);
#endif
#ifdef KEPT
    mask[place] = float(bits);
#endif
    vec4 value[4];
    UP_TO_FOUR(READ, 4)
    UP_TO_FOUR(STORE, 4)
}
