// Winners of a pixel's windows: for each channel the place of the tap in its window, column + 8 * row,
// and of the four channels one number in base 64, which a float holds. With CLAMPED the place of the
// pixel that the tap stands for, unless taps are ALL_INSIDE.
// needs pooling/winner_fields.glsl
float winners_of(vec4 places, ivec2 X) {
#if defined(CLAMPED) && !defined(ALL_INSIDE)
    int left = first_x + stride_x * X.x, top = first_y + stride_y * X.y;
    ivec4 columns = clamp((ivec4(places) & 7) + left, 0, source_width - 1) - left;
    ivec4 rows = clamp((ivec4(places) >> 3) + top, 0, source_height - 1) - top;
    places = vec4(rows * 8 + columns);
#endif
    return dot(places, vec4(1.0, 64.0, 4096.0, 262144.0));
}

// Of the same number as a whole one.
float winners_in(int places, ivec2 X) {
#if defined(CLAMPED) && !defined(ALL_INSIDE)
    return winners_of(vec4(places_in(places)), X);
#else
    return float(places);
#endif
}

int winner_index(int X, int Y, int slice, int image) {
    return ((image * destination_slices + slice) * destination_height + Y) * destination_width + X;
}
