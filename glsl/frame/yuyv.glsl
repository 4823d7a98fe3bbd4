// Y' of each pixel, and behind it Cb of a pair of columns or Cr.
// needs frame/ycbcr.glsl
vec3 frame_pixel(int x, int y, int image) {
    int first = x & ~1;
    vec4 even = source(first, y, 0, image);
    vec4 odd = source(first + 1, y, 0, image);
    vec2 c = vec2(even.y, odd.y);
    return vec3(x == first ? even.x : odd.x, swapped != 0 ? c.yx : c);
}
