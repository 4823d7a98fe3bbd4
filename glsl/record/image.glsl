// How a body stores into NAME.
layout(NAME_format, binding = NAME_binding) writeonly uniform highp image2DArray NAME_image;

void store_NAME(int x, int y, int slice, int image, vec4 v) {
#ifdef NAME_masked // the last slice has components beyond the last channel
    v = NAME_channels_of(v, slice);
#endif
#ifdef NAME_half
    v = round_to_half(v);
#endif
    imageStore(NAME_image, NAME_place(slice, image) + ivec3(x, y, 0), v);
}
