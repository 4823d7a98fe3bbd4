// Results by strips of ROWS below each other, of which a group makes STRIPS of a slice side by side
// in y, LANES columns of the source wide. An invocation folds one column for ROWS windows and leaves
// that in shared memory, where the columns of a window come together: strips read their pixels once.
// needs pooling/pooling_fold.glsl
// needs pooling/pooling_folded.glsl
// needs pooling/pooling_tap.glsl
#define EXTENT_X    (dilation_x * (TAPS_X - 1) + 1)
#define EXTENT_Y    (dilation_y * (TAPS_Y - 1) + 1)
#define RESULTS     ((LANES - EXTENT_X) / stride_x + 1) // of a row
#define SOURCE_ROWS ((ROWS - 1) * stride_y + EXTENT_Y)

shared vec4 columns[STRIPS * ROWS * LANES];

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

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationID.x);
    int first = int(gl_LocalInvocationID.y) * ROWS * LANES;
    int image = at.z / destination_slices;
    int slice = at.z - image * destination_slices;
    ivec2 X = ivec2(first_column + (at.x - lane) / LANES * RESULTS, first_row + at.y * ROWS);
    ivec2 top = ivec2(first_x, first_y) + X * ivec2(stride_x, stride_y);
    fold_column(first + lane, ivec2(top.x + lane, top.y), slice, image);
    barrier();
    for (int i = lane; i < ROWS * RESULTS; i += LANES) {
        int row = i / RESULTS;
        int column = i - row * RESULTS;
        ivec2 to = X + ivec2(column, row);
        if (to.x < end_column && to.y < end_row)
            store_destination(to.x, to.y, slice, image,
                              finished(fold_row(first + row * LANES + column * stride_x), to.x, to.y));
    }
}
