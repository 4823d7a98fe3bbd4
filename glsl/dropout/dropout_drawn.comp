// out = source / keep_probability where it is kept, else 0, of channels by sixteen: one invocation
// draws a word of the mask for four slices of a pixel, and with KEPT leaves it in "mask".
// at.z counts the words of a pixel, of all images.
// needs dropout/drawn.glsl
void invocation(ivec3 at) {
    int words = source_slices / 4;
    int image = at.z / words;
    int first_slice = (at.z - image * words) * 4;
    int counter = (at.y * source_width + at.x) * source_slices + first_slice;
    int bits = 0;
    for (int i = 0; i < 4; i++) {
        bvec4 kept = drawn(counter + i, image);
        vec4 value = source(at.x, at.y, first_slice + i, image) / keep_probability;
        store_destination(at.x, at.y, first_slice + i, image, mix(vec4(0.0), value, kept));
        bits |= bits_of(kept) << (4 * i);
    }
#ifdef KEPT
    mask[image * (source_width * source_height * words) + counter / 4] = float(bits);
#endif
}
