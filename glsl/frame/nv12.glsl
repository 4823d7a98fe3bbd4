// Y' in one image, Cb and Cr in another, which may have every second column and row.
// needs frame/ycbcr.glsl
vec3 frame_pixel(int x, int y, int image) {
    vec2 c = chroma(x >> chroma_x, y >> chroma_y, 0, image).xy;
    return vec3(source(x, y, 0, image).x, swapped != 0 ? c.yx : c);
}
