// partial(j) = sum of term(X) over block j: BLOCK_X by BLOCK_Y results from (begin_x, begin_y) on,
// over all channels too with SUM_CHANNELS. An axis that is not summed has blocks of 1.
// needs lib/channels.glsl
vec4 pixel_sum(int X, int Y, int slice, int image) {
#ifdef SUM_CHANNELS
    long_sum sum = long_sum(0.0, 0.0);
    for (int s = 0; s < gradient_slices; s++)
        add_slice(sum, slice_sum(term(X, Y, s, image), s, gradient_channels), s);
    return vec4(total_of(sum), 0.0, 0.0, 0.0);
#else
    return term(X, Y, slice, image);
#endif
}

void invocation(ivec2 at, int slice, int image) {
    int left = begin_x + at.x * BLOCK_X;
    int top = begin_y + at.y * BLOCK_Y;
    vec4 sum = vec4(0.0);
    for (int Y = top; Y < min(top + BLOCK_Y, end_y); Y++)
        for (int X = left; X < min(left + BLOCK_X, end_x); X++)
            sum += pixel_sum(X, Y, slice, image);
    store_partial(at.x, at.y, slice, image, sum);
}
