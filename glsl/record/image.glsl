// How a body stores into NAME.
#if defined(NAME_half) && defined(PACKS_HALVES)
layout(rgba16ui, binding = NAME_binding) writeonly uniform highp uimage2DArray NAME_image;
#define NAME_texel(v) half_bits(v)
#else
layout(NAME_format, binding = NAME_binding) writeonly uniform highp image2DArray NAME_image;
#ifdef NAME_half
#define NAME_texel(v) round_to_half(v)
#else
#define NAME_texel(v) v
#endif
#endif

void store_NAME(int x, int y, int slice, int image, vec4 v) {
#ifdef NAME_masked // the last slice has components beyond the last channel
    v = NAME_channels_of(v, slice);
#endif
    imageStore(NAME_image, NAME_place(slice, image) + ivec3(x, y, 0), NAME_texel(v));
}
