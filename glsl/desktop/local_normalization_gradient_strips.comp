// As desktop/local_normalization_gradient_tiles.comp, by strips: a group makes the terms of
// PARTS rows of windows, and of these ROWS rows of pixels of a slice, LANES - 2 (TAPS_X - 1) in each.
// Terms are added up along columns, TAPS_Y at a time, and then along rows.
// needs desktop/local_strip.glsl
// needs normalization/scale_power.glsl
#define ROWS   (PARTS - TAPS_Y + 1)
#define AROUND (TAPS_Y - 1 - TAPS_Y / 2) // windows above that around the first pixel

shared vec4 slope_sums[ROWS * LANES]; // of B
#ifdef ABOUT_MEAN
shared vec4 constant_sums[ROWS * LANES]; // of C - B Xc
#endif

// A, B and C - B Xc of window i of the strip.
void make_terms(vec4 strip[STRIP_ROWS], int lane, int i, ivec2 X, vec4 about, int slice, int image,
                out vec4 a, out vec4 b, out vec4 c) {
    local_statistics s = strip_statistics(strip, lane, i, about);
    a = ps * gradient_zero(X.x, X.y, slice, image) * scale_power(s.scale);
    b = a * s.contrast * (decline / s.scale);
    c = a * (p0 / float(TAPS_X * TAPS_Y)) - b * (s.offset + s.centre);
}

// For all lanes, each of which has the windows whose middle lies in its column, those that count
// being at rows begin_y to end_y where `counts`. Sums stand in shared memory.
void keep_sums(out vec4 centres[ROWS], vec4 strip[STRIP_ROWS], int lane, ivec2 X, bool counts,
               vec4 about, int slice, int image) {
    vec4 slopes[PARTS], constants[PARTS];
    for (int i = 0; i < PARTS; i++) {
        vec4 a = vec4(0.0), b = vec4(0.0), c = vec4(0.0);
        if (counts && X.y + i >= begin_y && X.y + i < end_y)
            make_terms(strip, lane, i, ivec2(X.x, X.y + i), about, slice, image, a, b, c);
        slopes[i] = b;
        constants[i] = c;
        if (i >= AROUND && i < AROUND + ROWS)
            centres[i - AROUND] = a;
    }
    for (int r = 0; r < ROWS; r++) {
        vec4 slope_sum = vec4(0.0), constant_sum = vec4(0.0);
        for (int q = 0; q < TAPS_Y; q++) {
            slope_sum += slopes[r + q];
            constant_sum += constants[r + q];
        }
        slope_sums[r * LANES + lane] = slope_sum;
#ifdef ABOUT_MEAN
        constant_sums[r * LANES + lane] = constant_sum;
#endif
    }
    barrier();
}

vec4 total(int first, vec4 centre, vec4 value) {
    vec4 slope_sum = vec4(0.0), constant_sum = vec4(0.0);
    for (int p = 0; p < TAPS_X; p++) {
        slope_sum += slope_sums[first + p];
#ifdef ABOUT_MEAN
        constant_sum += constant_sums[first + p];
#endif
    }
    return centre - constant_sum - value * slope_sum;
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int image = layer_quotient(at.z, destination_slices);
    int slice = at.z - image * destination_slices;
    ivec2 to = ivec2((at.x - lane) / LANES * (LANES - 2 * (TAPS_X - 1)), at.y * ROWS);
    ivec2 corner = to + ivec2(region_x + shift_x, region_y + shift_y);
    ivec2 top = corner + ivec2(lane - (TAPS_X - 1), 1 - TAPS_Y);
    vec4 about = about_pixel(corner + ivec2(LANES, ROWS) / 2, slice, image);
    vec4 strip[STRIP_ROWS], centres[ROWS];
    keep_parts(strip, lane, top, slice, image, about);
    int left = lane - TAPS_X / 2;
    ivec2 X = top - ivec2(TAPS_X / 2 + first_x, first_y);
    bool counts = left >= 0 && left <= LANES - TAPS_X && X.x >= begin_x && X.x < end_x;
    keep_sums(centres, strip, lane, X, counts, about, slice, image);
    int own = lane - (TAPS_X - 1), first = lane - (TAPS_X - 1 - TAPS_X / 2);
    to.x += own;
    if (own < 0 || own >= LANES - 2 * (TAPS_X - 1) || to.x >= region_width)
        return;
    for (int r = 0; r < ROWS; r++) {
        ivec2 u = top + ivec2(0, TAPS_Y - 1 + r);
        bool inside = is_within(u.x, u.y, source_width, source_height);
        vec4 sum = total(r * LANES + first, centres[r], strip[r + TAPS_Y - 1]);
        if (to.y + r < region_height)
            store_destination(region_x + to.x, region_y + to.y + r, slice, image,
                              inside ? sum : vec4(0.0));
    }
}
