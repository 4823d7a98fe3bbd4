// NAME, fused into its readers: values[(y W + x) C + c], of channels c from NAME_first on
// needs lib/channels.glsl
// needs lib/four.glsl
vec4 NAME(int x, int y, int slice, int image) {
    ivec4 c = min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), NAME_channels - 1);
    ivec4 i = (y * NAME_width + x) * NAME_all_channels + NAME_first + c;
    vec4 value = FOUR(NAME_values, i);
    return NAME_stored(mix(vec4(0.0), value, is_channel(slice, NAME_channels)));
}
