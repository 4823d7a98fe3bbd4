// NAME made where it is read: primary_scale * primary + secondary_scale * secondary + bias
// needs lib/channels.glsl
#define NAME_width NAME_primary_width
#define NAME_height NAME_primary_height
#define NAME_channels NAME_primary_channels
#define NAME_slices NAME_primary_slices
#define NAME_images NAME_primary_images
vec4 NAME(int x, int y, int slice, int image) {
    vec4 sum = NAME_primary_scale * NAME_primary(x, y, slice, image) +
               NAME_secondary_scale * NAME_secondary(x, y, slice, image) + NAME_bias;
    return mix(vec4(0.0), sum, is_channel(slice, NAME_channels));
}
