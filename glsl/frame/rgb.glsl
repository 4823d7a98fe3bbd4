// Red, green and blue in three channels; a fourth is not read.
vec3 frame_pixel(int x, int y, int image) {
    vec3 v = source(x, y, 0, image).rgb;
    return swapped != 0 ? v.bgr : v;
}

vec3 frame_rgb(vec3 v) { return v * luma_scale + luma_offset; }
