// Where NAME lies in its array texture, and which of its components count. Of each texture and
// image that a body has there is one copy of this file, with its name for the word in capitals.
#define NAME_slices (NAME_channels + 3 >> 2)

// Place of the first pixel of a slice of an image. Layers lie side by side, to the right first, as
// many as NAME_across + 1 and NAME_down + 1: powers of two, so that no division is needed. All of it
// is told by uniforms, and the program is the same for every batch.
ivec3 NAME_place(int slice, int image) {
    int x = 0, y = 0, layer = NAME_layer + image * NAME_stride + slice;
#ifndef NAME_plain // else it is a layer of the texture
    x = (layer & NAME_across) * NAME_cell_width;
    y = (layer >> NAME_across_bits & NAME_down) * NAME_cell_height;
    layer >>= NAME_cell_bits;
#endif
    return ivec3(x, y, layer); // Midgard's compiler wants more registers for ivec3(0, 0, layer)
}

// v with 0 beyond the last channel.
vec4 NAME_channels_of(vec4 v, int slice) {
    ivec4 channel = ivec4(slice * 4) + ivec4(0, 1, 2, 3);
    return mix(v, vec4(0.0), greaterThanEqual(channel, ivec4(NAME_channels)));
}
