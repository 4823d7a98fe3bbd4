// destination(y, x, c) = source(y', x', c')  where  (y * W + x) * C + c = (y' * W' + x') * C' + c'
// The destination stands for an image to_width wide, whose pixel `shift` is its first; of the
// source only the columns and rows begin .. end - 1 count, all others are 0.
// WHOLE_SLICES: C and C' are multiples of 4, so that four components come from one texel. Otherwise
// each has divisions of its own, of which Mali's older GPUs (T8xx) spill up to 11 values.
vec4 texel_of(int i, int image) {
    int pixel = i / source_channels;
    int y = pixel / source_width;
    int x = pixel - y * source_width;
    vec4 v = source_clamp(x, y, (i - pixel * source_channels) >> 2, image);
    return x >= begin_x && y >= begin_y && x < end_x && y < end_y ? v : vec4(0.0);
}

void invocation(ivec2 at, int slice, int image) {
    ivec2 u = at + ivec2(shift_x, shift_y);
    int i = (u.y * to_width + u.x) * destination_channels + 4 * slice;
    vec4 v = vec4(0.0);
    if (u.x >= 0 && u.y >= 0 && u.x < to_width && u.y < to_height) {
#ifdef WHOLE_SLICES
        v = texel_of(i, image);
#else
        for (int c = 0; c < 4; c++)
            v[c] = texel_of(i + c, image)[(i + c) % source_channels & 3];
#endif
    }
    store_destination(at.x, at.y, slice, image, v);
}
