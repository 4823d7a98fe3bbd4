// noise_step times what the four bytes of a random word of pixel u sum to beyond 510, their mean.
// needs augment/draws.glsl
vec4 noise(ivec2 u, int slice, int image) {
    uint texel = uint((slice * source_height + u.y) * source_width + u.x);
    uvec4 w = drawn(image, 2u, texel);
    uvec4 sum = (w & 255u) + (w >> 8 & 255u) + (w >> 16 & 255u) + (w >> 24);
    return noise_step * (vec4(sum) - 510.0);
}
