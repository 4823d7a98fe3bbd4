// out(X) = source(p(first + X)), bilinear; p by the image's transform, augment_geometry_draws.comp
// Of an image without a number all is NaN.
// needs lib/blend.glsl
#ifdef REFLECT
// A reflected picture repeats after twice its size, the second half of it backwards. The pixels
// before the first are those from the first on.
int reflected(int i, int size) {
    int k = (i < 0 ? -1 - i : i) % (2 * size);
    return min(k, 2 * size - 1 - k);
}

vec4 source_around(int x, int y, int slice, int image) {
    return source_edge(reflected(x, source_width), reflected(y, source_height), slice, image);
}
#else
vec4 source_around(int x, int y, int slice, int image) { return source_edge(x, y, slice, image); }
#endif

vec4 blended_row(ivec2 i, float f, int slice, int image) {
    return blend(source_around(i.x, i.y, slice, image), source_around(i.x + 1, i.y, slice, image),
                 f);
}

void invocation(ivec2 at, int slice, int image) {
    ivec2 d = 2 * (at + ivec2(first_x, first_y)) + 1 - ivec2(source_width, source_height);
    int t = image * 7;
    ivec2 p = ivec2(transform[t] * d.x + transform[t + 1] * d.y + transform[t + 2],
                    transform[t + 3] * d.x + transform[t + 4] * d.y + transform[t + 5]);
    ivec2 i = p >> 15;
    vec2 f = vec2(p & 32767) / 32768.0;
    vec4 top = blended_row(i, f.x, slice, image);
    vec4 bottom = blended_row(i + ivec2(0, 1), f.x, slice, image);
    vec4 value = blend(top, bottom, f.y);
    value = transform[t + 6] == 1 ? value : vec4(uintBitsToFloat(0x7fc00000u));
    store_destination(at.x, at.y, slice, image, value);
}
