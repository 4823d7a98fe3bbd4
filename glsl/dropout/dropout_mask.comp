// Word w of the mask of an image: bit b is 1 where element 16 w + b is kept, and 0 beyond the last.
// One invocation draws one word; at.x is the word, at.y the image.
// needs dropout/drawn.glsl
void invocation(ivec3 at) {
    int bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= bits_of(drawn(at.x * 4 + i, at.y)) << (4 * i);
    int left = min(length_of_image - at.x * 16, 16);
    mask[at.y * grid_x + at.x] = float(bits & ((1 << left) - 1));
}
