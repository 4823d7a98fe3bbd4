// The statistics of normalization/local_statistics.glsl for windows of PARTS rows and LANES columns, by
// strips: each invocation of a group reads one column of the source and measures the part of a
// window that lies in it, TAPS_Y taps, for PARTS windows above each other. Parts stand in shared
// memory, where windows take TAPS_X of them. As by tiles, with columns for rows, a part is its mean m
// and the sum of squares M about it, and values are relative to `about`.
// needs lib/unroll_all.glsl
// needs desktop/local_about.glsl
#define STRIP_ROWS (PARTS + TAPS_Y - 1) // of the source

shared vec4 part_squares[PARTS * LANES];
#ifdef ABOUT_MEAN
shared vec4 part_means[PARTS * LANES];
#endif

// For all lanes: the column from `top` on, relative to `about`, and its parts.
void keep_parts(out vec4 strip[STRIP_ROWS], int lane, ivec2 top, int slice, int image, vec4 about) {
    for (int j = 0; j < STRIP_ROWS; j++)
        strip[j] = source_edge(top.x, top.y + j, slice, image) - about;
    for (int i = 0; i < PARTS; i++) {
        vec4 mean = vec4(0.0), squares = vec4(0.0);
#ifdef ABOUT_MEAN
        for (int q = 0; q < TAPS_Y; q++)
            mean += strip[i + q];
        mean /= float(TAPS_Y);
        part_means[i * LANES + lane] = mean;
#endif
        for (int q = 0; q < TAPS_Y; q++) {
            vec4 d = strip[i + q] - mean;
            squares += d * d;
        }
        part_squares[i * LANES + lane] = squares;
    }
    barrier();
}

// Of window i of the strip in whose column the middle of the window lies.
local_statistics strip_statistics(vec4 strip[STRIP_ROWS], int lane, int i, vec4 about) {
    vec4 centre = strip[i + TAPS_Y / 2];
    int first = i * LANES + lane - TAPS_X / 2;
    vec4 mean = vec4(0.0), squares = vec4(0.0);
#ifdef ABOUT_MEAN
    for (int p = 0; p < TAPS_X; p++)
        mean += part_means[first + p];
    mean /= float(TAPS_X);
    for (int p = 0; p < TAPS_X; p++) {
        vec4 d = part_means[first + p] - mean;
        squares += part_squares[first + p] + float(TAPS_Y) * d * d;
    }
#else
    for (int p = 0; p < TAPS_X; p++)
        squares += part_squares[first + p];
#endif
    return statistics_about(centre, mean, squares, about);
}
