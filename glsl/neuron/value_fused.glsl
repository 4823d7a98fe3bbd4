// NAME, fused into its readers: f(source)
// needs lib/channels.glsl
vec4 NAME(int x, int y, int slice, int image) {
    vec4 value = NAME_neuron(NAME_source(x, y, slice, image), vec4(0.0));
    return NAME_stored(mix(vec4(0.0), value, is_channel(slice, NAME_channels)));
}
