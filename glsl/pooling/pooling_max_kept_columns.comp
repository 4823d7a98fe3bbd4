// The largest taps of strips side by side, and which taps won: of equal taps that of the first row, and
// there the first.
// needs pooling/kept_result.glsl
// needs pooling/strips_side_by_side.glsl
// Places of four channels stay in their fields of one number.
#define CARE (1 << 24) // above the fields

int together(ivec4 places) { return places.x | places.y | places.z | places.w; }

shared int kept_rows[STRIPS * ROWS * LANES];

void fold_column(int first, ivec2 top, int slice, int image) {
    vec4 taps[SOURCE_ROWS];
    vec4 sum = vec4(0.0);
    for (int j = 0; j < SOURCE_ROWS; j++) {
        taps[j] = source_edge(top.x, top.y + j, slice, image);
        sum += taps[j];
    }
    int care = may_have_nan(sum) ? CARE : 0;
    for (int r = 0; r < ROWS; r++) {
        vec4 best = taps[r * stride_y];
        ivec4 rows = ivec4(0);
        for (int q = 1; q < TAPS_Y; q++) {
            vec4 value = taps[r * stride_y + q * dilation_y];
            bvec4 better = greaterThan(value, best);
            best = mix(best, value, better);
            rows = mix(rows, ivec4(place_of_tap(0, q)) << winner_shifts, better);
        }
        columns[first + r * LANES] = best;
        kept_rows[first + r * LANES] = together(rows) | care;
    }
}

void make_result(ivec2 X, int first, int slice, int image) {
    vec4 best = columns[first];
    int kept = kept_rows[first], all = kept;
    ivec4 places = ivec4(kept) & winner_fields;
    for (int p = 1; p < TAPS_X; p++) {
        vec4 value = columns[first + p * dilation_x];
        kept = kept_rows[first + p * dilation_x];
        all |= kept;
        ivec4 others = ivec4(kept + p * EACH_FIELD) & winner_fields;
        for (int c = 0; c < 4; c++)
            if (value[c] > best[c] || (value[c] == best[c] && others[c] < places[c])) {
                best[c] = value[c];
                places[c] = others[c];
            }
    }
    if (all >= CARE)
        keep_result_with_care(X, slice, image);
    else
        keep_numbered(X, slice, image, best, winners_in(together(places), X));
}

void invocation(ivec3 at) { make_strips(at); }
