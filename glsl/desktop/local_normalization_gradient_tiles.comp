// As normalization/local_normalization_gradient.comp with the terms A, B and C of the pass before
// it, by tiles: a group makes the terms of all windows that read TILE_X x TILE_Y pixels of a slice,
// adds them up along rows, TAPS_X at a time, and then along columns. With s the source,
//     dX(u) = A(u) - sum of (C - B Xc) - s(u) * sum of B
// where s and Xc are relative to a pixel nearby: sums of small values are subtracted. No tap outside
// of the image stands for a pixel of it.
// needs desktop/local_tile.glsl
// needs normalization/scale_power.glsl
shared vec4 centres[TILE_X * TILE_Y];  // A, of the window around a pixel
shared vec4 slopes[STATS_X * STATS_Y]; // B
#ifdef ABOUT_MEAN
shared vec4 constants[STATS_X * STATS_Y]; // C - B Xc
#endif

void make_terms(ivec2 own, ivec2 X, vec4 about, int slice, int image) {
    int i = own.y * STATS_X + own.x;
    vec4 a = vec4(0.0), b = vec4(0.0), c = vec4(0.0);
    if (X.x >= begin_x && X.y >= begin_y && X.x < end_x && X.y < end_y) {
        local_statistics s = tile_statistics(own, about);
        a = ps * gradient_zero(X.x, X.y, slice, image) * scale_power(s.scale);
        b = a * s.contrast * (decline / s.scale);
        c = a * (p0 / float(TAPS_X * TAPS_Y)) - b * (s.offset + s.centre);
    }
    slopes[i] = b;
#ifdef ABOUT_MEAN
    constants[i] = c;
#endif
    ivec2 around = own - ivec2((TAPS_X - 1) / 2, (TAPS_Y - 1) / 2);
    if (is_within(around.x, around.y, TILE_X, TILE_Y))
        centres[around.y * TILE_X + around.x] = a;
}

// Rows of terms stand where those of the source stood.
void add_row(int i) {
    int y = i / TILE_X;
    int first = y * STATS_X + i - y * TILE_X;
    vec4 sum = vec4(0.0);
    for (int p = 0; p < TAPS_X; p++)
        sum += slopes[first + p];
    row_squares[i] = sum;
#ifdef ABOUT_MEAN
    sum = vec4(0.0);
    for (int p = 0; p < TAPS_X; p++)
        sum += constants[first + p];
    row_means[i] = sum;
#endif
}

vec4 total(ivec2 own) {
    vec4 slope_sum = vec4(0.0), constant_sum = vec4(0.0);
    for (int q = 0; q < TAPS_Y; q++) {
        int i = (own.y + q) * TILE_X + own.x;
        slope_sum += row_squares[i];
#ifdef ABOUT_MEAN
        constant_sum += row_means[i];
#endif
    }
    vec4 value = kept[(own.y + TAPS_Y - 1) * KEPT_X + own.x + TAPS_X - 1];
    return centres[own.y * TILE_X + own.x] - constant_sum - value * slope_sum;
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int image = layer_quotient(at.z, destination_slices);
    int slice = at.z - image * destination_slices;
    ivec2 tile = ivec2((at.x - lane) / LANES, at.y) * ivec2(TILE_X, TILE_Y);
    ivec2 corner = tile + ivec2(region_x + shift_x, region_y + shift_y);
    ivec2 read = corner - ivec2(TAPS_X - 1, TAPS_Y - 1);
    ivec2 first = read - ivec2(first_x, first_y);
    vec4 about = about_pixel(corner + ivec2(TILE_X, TILE_Y) / 2, slice, image);
    keep_rows(lane, read, slice, image, about);
    for (int i = lane; i < STATS_X * STATS_Y; i += LANES) {
        ivec2 own = ivec2(i % STATS_X, i / STATS_X);
        make_terms(own, first + own, about, slice, image);
    }
    barrier();
    for (int i = lane; i < TILE_X * STATS_Y; i += LANES)
        add_row(i);
    barrier();
    for (int i = lane; i < TILE_X * TILE_Y; i += LANES) {
        ivec2 own = ivec2(i % TILE_X, i / TILE_X);
        ivec2 to = tile + own, u = corner + own;
        if (to.x >= region_width || to.y >= region_height)
            continue;
        bool inside = is_within(u.x, u.y, source_width, source_height);
        vec4 sum = total(own);
        store_destination(region_x + to.x, region_y + to.y, slice, image,
                          inside ? sum : vec4(0.0));
    }
}
