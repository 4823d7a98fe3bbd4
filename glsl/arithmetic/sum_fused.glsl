// NAME, fused into its readers: primary_scale * source + secondary_scale * secondary + bias
// needs lib/channels.glsl
vec4 NAME(int x, int y, int slice, int image) {
    vec4 sum = NAME_primary_scale * NAME_source(x, y, slice, image) +
               NAME_secondary_scale * NAME_secondary(x, y, slice, image) + NAME_bias;
    return NAME_stored(mix(vec4(0.0), sum, is_channel(slice, NAME_channels)));
}
