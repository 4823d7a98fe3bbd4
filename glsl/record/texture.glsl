// How a body reads NAME. With LOADS_IMAGES textures are bound as images.
#ifdef LOADS_IMAGES
layout(NAME_format, binding = NAME_binding) readonly uniform highp image2DArray NAME_texture;
#define NAME_fetch(place) imageLoad(NAME_texture, place)
#elif defined(NAME_flat)
layout(binding = NAME_binding) uniform highp sampler2D NAME_texture;
#ifdef NAME_red // a pixel is three texels of a byte, of which this is red
vec4 NAME_fetch(ivec3 place) {
    ivec2 corner = ivec2(3 * place.x, place.y);
    return vec4(texelFetch(NAME_texture, corner + ivec2(NAME_red, 0), 0).r,
                texelFetch(NAME_texture, corner + ivec2(1, 0), 0).r,
                texelFetch(NAME_texture, corner + ivec2(2 - NAME_red, 0), 0).r, 1.0);
}
#else
#define NAME_fetch(place) texelFetch(NAME_texture, (place).xy, 0)
#endif
#else
layout(binding = NAME_binding) uniform highp sampler2DArray NAME_texture;
#define NAME_fetch(place) texelFetch(NAME_texture, place, 0)
#endif

vec4 NAME_at(ivec3 place, int x, int y, int slice) {
    vec4 v = NAME_fetch(place + ivec3(x, y, 0));
#ifdef NAME_masked // another's values lie beyond the last channel
    v = NAME_channels_of(v, slice);
#endif
    return v;
}

vec4 NAME(int x, int y, int slice, int image) {
    return NAME_at(NAME_place(slice, image), x, y, slice);
}
