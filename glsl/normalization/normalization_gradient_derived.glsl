// NAME made where it is read: what normalization/normalization_gradient.comp would store, where
// each pixel is read by the result in its place
//     scale (g' - shift - tilt (source - mean)),   g' = G act'(scale (source - mean) + beta)
// NAME_first is the channel of the coefficients that the first of the source is; columns 0 mean,
// 1 scale, 2 beta, 4 tilt, 5 shift.
// needs lib/channels.glsl
// needs lib/compare.glsl
vec4 NAME(int x, int y, int slice, int image) {
    int k = NAME_first / 4 + slice;
    vec4 scale = NAME_coefficients(1, 0, k, 0);
    vec4 d = NAME_source(x, y, slice, image) - NAME_coefficients(0, 0, k, 0);
    vec4 rate = NAME_neuron_derivative(scale * d + NAME_coefficients(2, 0, k, 0), vec4(0.0));
    vec4 g = times(rate, NAME_gradient(x, y, slice, image));
    vec4 tilt = NAME_coefficients(4, 0, k, 0);
    vec4 value = scale * ((g - NAME_coefficients(5, 0, k, 0)) - tilt * d);
    return mix(vec4(0.0), value, is_channel(slice, NAME_channels));
}
