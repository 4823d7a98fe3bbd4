// NAME, fused into its readers: act(scale (source - mean) + beta)
//     with scale = gamma / sqrt(variance + epsilon)
// NAME_first is the channel of the coefficients that the first of the source is. They come from
// vectors, or with NAME_in_image from columns 0 to 2 of an image: mean, scale, beta.
// needs lib/channels.glsl
// needs lib/four.glsl
vec4 NAME(int x, int y, int slice, int image) {
#ifdef NAME_in_image
    int k = NAME_first / 4 + slice;
    vec4 centre = NAME_coefficients(0, 0, k, 0);
    vec4 gain = NAME_coefficients(1, 0, k, 0);
    vec4 offset = NAME_coefficients(2, 0, k, 0);
#else
    ivec4 c = NAME_first + min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), NAME_channels - 1);
    vec4 centre = FOUR(NAME_mean, c), offset = FOUR(NAME_beta, c);
    vec4 gain = FOUR(NAME_gamma, c) * (1.0 / sqrt(FOUR(NAME_variance, c) + NAME_epsilon));
#endif
    vec4 value = gain * (NAME_source(x, y, slice, image) - centre) + offset;
    value = NAME_neuron(value, vec4(0.0));
    return NAME_stored(mix(vec4(0.0), value, is_channel(slice, NAME_channels)));
}
