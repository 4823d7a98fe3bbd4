// destination(y, x, c) = source(y', x', c')  where the two have the same number,
//     (y * W + x) * C + c, with CHANNELS_FIRST (c * H + y) * W + x
// The destination stands for an image to_width wide, whose pixel `shift` is its first; of the
// source only the columns and rows begin .. end - 1 count, all others are 0.
// WHOLE_SLICES: C and C' are multiples of 4, so that four components come from one texel. Otherwise
// each has divisions of its own, of which Mali's older GPUs (T8xx) spill up to 11 values.
vec4 texel_at(int x, int y, int c, int image) {
    vec4 v = source_clamp(x, y, c >> 2, image);
    return x >= begin_x && y >= begin_y && x < end_x && y < end_y ? v : vec4(0.0);
}

#ifdef CHANNELS_FIRST
float number_of(int i, int image) {
    int row = i / source_width;
    int c = row / source_height;
    return texel_at(i - row * source_width, row - c * source_height, c, image)[c & 3];
}
#else
vec4 texel_of(int i, int image) {
    int pixel = i / source_channels;
    int y = pixel / source_width;
    return texel_at(pixel - y * source_width, y, i - pixel * source_channels, image);
}

float number_of(int i, int image) { return texel_of(i, image)[i % source_channels & 3]; }
#endif

void invocation(ivec2 at, int slice, int image) {
    ivec2 u = at + ivec2(shift_x, shift_y);
#ifdef CHANNELS_FIRST
    int next = to_width * to_height;
    int i = 4 * slice * next + u.y * to_width + u.x;
#else
    const int next = 1;
    int i = (u.y * to_width + u.x) * destination_channels + 4 * slice;
#endif
    vec4 v = vec4(0.0);
    if (is_within(u.x, u.y, to_width, to_height)) {
#ifdef WHOLE_SLICES
        v = texel_of(i, image);
#else
        for (int c = 0; c < 4; c++)
            v[c] = number_of(i + c * next, image);
#endif
    }
    store_destination(at.x, at.y, slice, image, v);
}
