// The results of strips side by side.
// needs pooling/pooling_fold.glsl
// needs pooling/pooling_folded.glsl
// needs pooling/pooling_tap.glsl
// needs pooling/strips_side_by_side.glsl
#define FOLD_COLUMN(FOLD) \
    for (int r = 0; r < ROWS; r++) { \
        vec4 folded = taps[r * stride_y]; \
        for (int q = 1; q < TAPS_Y; q++) \
            folded = FOLD(folded, taps[r * stride_y + q * dilation_y]); \
        columns[first + r * LANES] = folded; \
    }

void fold_column(int first, ivec2 top, int slice, int image) {
    vec4 taps[SOURCE_ROWS];
    vec4 sum = vec4(0.0);
    for (int j = 0; j < SOURCE_ROWS; j++) {
        taps[j] = tap(top.x, top.y + j, slice, image);
        sum += taps[j];
    }
    if (may_be_nan(sum))
        FOLD_COLUMN(fold)
    else
        FOLD_COLUMN(fold_numbers)
}

vec4 fold_row(int first) {
    vec4 folded = columns[first], sum = folded;
    for (int p = 1; p < TAPS_X; p++) {
        vec4 v = columns[first + p * dilation_x];
        folded = fold_numbers(folded, v);
        sum += v;
    }
    if (may_be_nan(sum))
        for (int p = 0; p < TAPS_X; p++)
            folded = fold(folded, columns[first + p * dilation_x]);
    return folded;
}

void make_result(ivec2 X, int first, int slice, int image) {
    store_destination(X.x, X.y, slice, image, finished(fold_row(first), X.x, X.y, slice, image));
}

void invocation(ivec3 at) { make_strips(at); }
