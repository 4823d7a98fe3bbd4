// NAME made where it is read: act(scale (source - mean) + beta)
//     with scale = gamma / sqrt(variance + epsilon)
// NAME_first is the channel of the coefficients that the first of the source is. They come from
// vectors, or with NAME_in_image from columns 0 to 2 of an image: mean, scale, beta.
// needs lib/channels.glsl
vec4 NAME(int x, int y, int slice, int image) {
#ifdef NAME_in_image
    int k = NAME_first / 4 + slice;
    vec4 mean = NAME_coefficients(0, 0, k, 0);
    vec4 scale = NAME_coefficients(1, 0, k, 0);
    vec4 beta = NAME_coefficients(2, 0, k, 0);
#else
    ivec4 c = NAME_first + min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), NAME_channels - 1);
    vec4 mean = vec4(NAME_mean[c.x], NAME_mean[c.y], NAME_mean[c.z], NAME_mean[c.w]);
    vec4 variance =
        vec4(NAME_variance[c.x], NAME_variance[c.y], NAME_variance[c.z], NAME_variance[c.w]);
    vec4 gamma = vec4(NAME_gamma[c.x], NAME_gamma[c.y], NAME_gamma[c.z], NAME_gamma[c.w]);
    vec4 beta = vec4(NAME_beta[c.x], NAME_beta[c.y], NAME_beta[c.z], NAME_beta[c.w]);
    vec4 scale = gamma * (1.0 / sqrt(variance + NAME_epsilon));
#endif
    vec4 value = scale * (NAME_source(x, y, slice, image) - mean) + beta;
    value = NAME_neuron(value, vec4(0.0));
    return mix(vec4(0.0), value, is_channel(slice, NAME_channels));
}
