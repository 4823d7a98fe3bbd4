// Red, green and blue of Y', Cb and Cr.
vec3 frame_rgb(vec3 v) {
    float luma = v.x * luma_scale + luma_offset;
    vec2 chroma = v.yz * chroma_scale + chroma_offset;
    return vec3(luma + red_cr * chroma.y, luma - green_cb * chroma.x - green_cr * chroma.y,
                luma + blue_cb * chroma.x);
}
