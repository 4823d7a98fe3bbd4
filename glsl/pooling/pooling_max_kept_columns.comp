// The largest taps of strips side by side, and which taps won: of equal taps that of the first row, and
// there the first.
// needs pooling/kept_result.glsl
// needs pooling/strips_side_by_side.glsl
#define CARE 4096 // above the rows of four channels' winners, three bits each

shared float kept_rows[STRIPS * ROWS * LANES];

void fold_column(int first, ivec2 top, int slice, int image) {
    vec4 taps[SOURCE_ROWS];
    vec4 sum = vec4(0.0);
    for (int j = 0; j < SOURCE_ROWS; j++) {
        taps[j] = source_edge(top.x, top.y + j, slice, image);
        sum += taps[j];
    }
    float care = may_have_nan(sum) ? float(CARE) : 0.0;
    for (int r = 0; r < ROWS; r++) {
        vec4 best = taps[r * stride_y], rows = vec4(0.0);
        for (int q = 1; q < TAPS_Y; q++) {
            vec4 value = taps[r * stride_y + q * dilation_y];
            bvec4 better = greaterThan(value, best);
            best = mix(best, value, better);
            rows = mix(rows, vec4(q), better);
        }
        columns[first + r * LANES] = best;
        kept_rows[first + r * LANES] = dot(rows, vec4(1.0, 8.0, 64.0, 512.0)) + care;
    }
}

ivec4 places_of(int kept, int p) { return (ivec4(kept) >> ivec4(0, 3, 6, 9) & ivec4(7)) * 8 + p; }

void make_result(ivec2 X, int first, int slice, int image) {
    vec4 best = columns[first];
    int kept = int(kept_rows[first]), all = kept;
    ivec4 places = places_of(kept, 0);
    for (int p = 1; p < TAPS_X; p++) {
        vec4 value = columns[first + p * dilation_x];
        kept = int(kept_rows[first + p * dilation_x]);
        all |= kept;
        ivec4 others = places_of(kept, p);
        for (int c = 0; c < 4; c++)
            if (value[c] > best[c] || (value[c] == best[c] && others[c] < places[c])) {
                best[c] = value[c];
                places[c] = others[c];
            }
    }
    if (all >= CARE)
        keep_result_with_care(X, slice, image);
    else
        keep_result(X, slice, image, best, vec4(places));
}

void invocation(ivec3 at) { make_strips(at); }
