// STRIP results below each other, STEP apart, to an invocation: those whose windows begin a row of
// taps after each other. A row that several of them have is read and folded once.
// needs lib/unroll_all.glsl
// needs pooling/pooling_fold.glsl
// needs pooling/pooling_folded.glsl
// needs pooling/pooling_tap.glsl
#define ROWS (KERNEL_HEIGHT + STRIP - 1)

vec4 row_of(int left, int y, int slice, int image, inout vec4 sum) {
    vec4 row = tap(left, y, slice, image);
    sum += row;
    for (int p = 1; p < KERNEL_WIDTH; p++) {
        vec4 v = tap(left + dilation_x * p, y, slice, image);
        row = fold_numbers(row, v);
        sum += v;
    }
    return row;
}

// With the taps of a window folded once more: a NaN of theirs is not lost.
vec4 folded_again(vec4 folded, int left, int top, int slice, int image) {
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++)
            folded = fold(folded, tap(left + dilation_x * p, top + dilation_y * q, slice, image));
    return folded;
}

void invocation(ivec2 at, int slice, int image) {
    int strip = at.y / STEP;
    int Y = first_row + at.y + strip * (STEP * (STRIP - 1));
    int left = first_x + stride_x * at.x;
    int top = first_y + stride_y * Y;
    vec4 folded[STRIP];
    vec4 sum = vec4(0.0);
    for (int r = 0; r < ROWS; r++) {
        vec4 row = row_of(left, top + dilation_y * r, slice, image, sum);
        for (int i = 0; i < STRIP; i++) {
            int q = r - i;
            if (q == 0)
                folded[i] = row;
            else if (q > 0 && q < KERNEL_HEIGHT)
                folded[i] = fold_numbers(folded[i], row);
        }
    }
    bool again = may_be_nan(sum);
    for (int i = 0; i < STRIP; i++, Y += STEP) {
        if (again)
            folded[i] = folded_again(folded[i], left, top + dilation_y * i, slice, image);
        if (Y < end_row)
            store_destination(at.x, Y, slice, image, finished(folded[i], at.x, Y, slice, image));
    }
}
