// NAME, fused into its readers: what normalization/normalization_gradient.comp would store, where
// each pixel is read by the result in its place
//     scale (g' - shift - tilt (source - mean)),   g' = G act'(scale (source - mean) + beta)
// NAME_first is the channel of the coefficients that the first of the source is. They come from
// vectors, or with NAME_in_image from columns of an image: 0 mean, 1 scale, 2 beta, 4 tilt, 5 shift.
// needs lib/channels.glsl
// needs lib/compare.glsl
// needs lib/four.glsl
vec4 NAME(int x, int y, int slice, int image) {
#ifdef NAME_in_image
    int k = NAME_first / 4 + slice;
    vec4 centre = NAME_coefficients(0, 0, k, 0);
    vec4 gain = NAME_coefficients(1, 0, k, 0);
    vec4 offset = NAME_coefficients(2, 0, k, 0);
    vec4 tilt = NAME_coefficients(4, 0, k, 0);
    vec4 drift = NAME_coefficients(5, 0, k, 0);
#else
    ivec4 c = NAME_first + min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), NAME_channels - 1);
    vec4 centre = FOUR(NAME_mean, c);
    vec4 offset = FOUR(NAME_beta, c);
    vec4 rate = 1.0 / sqrt(FOUR(NAME_variance, c) + NAME_epsilon);
    vec4 gain = FOUR(NAME_gamma, c) * rate;
    vec4 tilt = FOUR(NAME_gamma_gradient, c) / NAME_samples * rate;
    vec4 drift = FOUR(NAME_beta_gradient, c) / NAME_samples;
#endif
    vec4 d = NAME_source(x, y, slice, image) - centre;
    vec4 act = NAME_neuron_derivative(gain * d + offset, vec4(0.0));
    vec4 g = times(act, NAME_gradient(x, y, slice, image));
    vec4 value = gain * ((g - drift) - tilt * d);
    return NAME_stored(mix(vec4(0.0), value, is_channel(slice, NAME_channels)));
}
