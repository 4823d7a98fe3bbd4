// The result of window (X, Y), of its taps folded: an average is divided by its count, and with
// SQUARES the root is taken (pooling/norm_of_squares.glsl).
// needs pooling/pooling_average.glsl
vec4 finished(vec4 folded, int X, int Y, int slice, int image) {
#if defined(AVERAGE)
    float count = average_count(X, Y, source_width, source_height);
    return count > 0.0 ? folded / count : vec4(0.0);
#elif defined(SQUARES)
    return norm_of_squares(folded, first_x + stride_x * X, first_y + stride_y * Y, slice, image);
#else
    return folded;
#endif
}
