// How a body stores into NAME, or into a buffer that is copied there: NAME_buffered is its binding.
#if defined(NAME_buffered)
layout(std430, binding = NAME_buffered) writeonly buffer NAME_buffer { vec4 NAME_texels[]; };
layout(location = NAME_first_location) uniform int NAME_first; // layer in it
#elif defined(NAME_float16) && defined(PACKS_FLOAT16)
layout(rgba16ui, binding = NAME_binding) writeonly uniform highp uimage2DArray NAME_image;
#define NAME_texel(v) float16_bits(v)
#else
layout(NAME_format, binding = NAME_binding) writeonly uniform highp image2DArray NAME_image;
#ifdef NAME_float16
#define NAME_texel(v) round_to_float16(v)
#else
#define NAME_texel(v) v
#endif
#endif

void store_NAME(int x, int y, int slice, int image, vec4 v) {
#ifdef NAME_masked // the last slice has components beyond the last channel
    v = NAME_channels_of(v, slice);
#endif
#ifdef NAME_buffered
    int layer = image * NAME_slices + slice - NAME_first;
    NAME_texels[(layer * NAME_height + y) * NAME_width + x] = v;
#else
    imageStore(NAME_image, NAME_place(slice, image) + ivec3(x, y, 0), NAME_texel(v));
#endif
}
