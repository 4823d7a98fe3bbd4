// The statistics of normalization/local_statistics.glsl for STATS_X x STATS_Y windows side by side,
// which a group of LANES invocations makes. It keeps what they read of the source in shared memory,
// then of each of their rows, TAPS_X taps that windows above each other share, the mean m and the
// sum of squares M about it:
//     Mn = mean of m,   sum of (tap - Mn)^2 = sum over rows of (M + TAPS_X (m - Mn)^2)
// Values are relative to `about`, one of a pixel nearby: what is small beside the mean keeps its
// digits. Without ABOUT_MEAN there are but sums of squares, and `about` is 0.
// needs desktop/local_about.glsl
#define KEPT_X (STATS_X + TAPS_X - 1)
#define KEPT_Y (STATS_Y + TAPS_Y - 1)

shared vec4 kept[KEPT_X * KEPT_Y];
shared vec4 row_squares[STATS_X * KEPT_Y];
#ifdef ABOUT_MEAN
shared vec4 row_means[STATS_X * KEPT_Y];
#endif

void keep_row(int i) {
    int y = i / STATS_X;
    int first = y * KEPT_X + i - y * STATS_X;
    vec4 mean = vec4(0.0);
#ifdef ABOUT_MEAN
    for (int p = 0; p < TAPS_X; p++)
        mean += kept[first + p];
    mean /= float(TAPS_X);
    row_means[i] = mean;
#endif
    vec4 squares = vec4(0.0);
    for (int p = 0; p < TAPS_X; p++) {
        vec4 d = kept[first + p] - mean;
        squares += d * d;
    }
    row_squares[i] = squares;
}

// For all lanes: reads the source from pixel `corner` on, and makes rows.
void keep_rows(int lane, ivec2 corner, int slice, int image, vec4 about) {
    for (int i = lane; i < KEPT_X * KEPT_Y; i += LANES) {
        int y = i / KEPT_X;
        kept[i] = source_edge(corner.x + i - y * KEPT_X, corner.y + y, slice, image) - about;
    }
    barrier();
    for (int i = lane; i < STATS_X * KEPT_Y; i += LANES)
        keep_row(i);
    barrier();
}

// Of window `at` of these; its centre is relative too.
local_statistics tile_statistics(ivec2 at, vec4 about) {
    vec4 centre = kept[(at.y + TAPS_Y / 2) * KEPT_X + at.x + TAPS_X / 2];
    int first = at.y * STATS_X + at.x;
    vec4 mean = vec4(0.0), squares = vec4(0.0);
#ifdef ABOUT_MEAN
    for (int q = 0; q < TAPS_Y; q++)
        mean += row_means[first + q * STATS_X];
    mean /= float(TAPS_Y);
    for (int q = 0; q < TAPS_Y; q++) {
        vec4 d = row_means[first + q * STATS_X] - mean;
        squares += row_squares[first + q * STATS_X] + float(TAPS_X) * d * d;
    }
#else
    for (int q = 0; q < TAPS_Y; q++)
        squares += row_squares[first + q * STATS_X];
#endif
    return statistics_about(centre, mean, squares, about);
}
