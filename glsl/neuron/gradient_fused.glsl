// NAME, fused into its readers: f'(source) G
// needs lib/channels.glsl
// needs lib/compare.glsl
vec4 NAME(int x, int y, int slice, int image) {
    vec4 rate = NAME_neuron_derivative(NAME_source(x, y, slice, image), vec4(0.0));
    vec4 value = times(rate, NAME_gradient(x, y, slice, image));
    return NAME_stored(mix(vec4(0.0), value, is_channel(slice, NAME_channels)));
}
