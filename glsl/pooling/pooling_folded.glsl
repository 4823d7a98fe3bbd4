// The result of window (X, Y), of its taps folded: an average is divided by its count, and with
// SQUARES the root is taken.
// needs pooling/pooling_average.glsl
vec4 finished(vec4 folded, int X, int Y) {
#if defined(AVERAGE)
    float count = average_count(X, Y, source_width, source_height);
    return count > 0.0 ? folded / count : vec4(0.0);
#elif defined(SQUARES)
    return sqrt(folded);
#else
    return folded;
#endif
}
