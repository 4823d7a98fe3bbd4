// NAME made where it is read: f(source)
// needs lib/channels.glsl
#define NAME_width NAME_source_width
#define NAME_height NAME_source_height
#define NAME_channels NAME_source_channels
#define NAME_slices NAME_source_slices
#define NAME_images NAME_source_images
vec4 NAME(int x, int y, int slice, int image) {
    vec4 value = NAME_neuron(NAME_source(x, y, slice, image), vec4(0.0));
    return mix(vec4(0.0), value, is_channel(slice, NAME_channels));
}
