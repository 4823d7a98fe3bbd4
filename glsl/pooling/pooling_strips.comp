// STRIP results below each other, STEP apart, to an invocation: those whose windows begin a row of
// taps after each other. A row that several of them have is read and folded once.
// needs pooling/pooling_fold.glsl
// needs pooling/pooling_folded.glsl
// needs pooling/pooling_tap.glsl
#define ROWS (KERNEL_HEIGHT + STRIP - 1)

vec4 row_of(int left, int y, int slice, int image) {
    vec4 row = tap(left, y, slice, image);
    for (int p = 1; p < KERNEL_WIDTH; p++)
        row = fold(row, tap(left + dilation_x * p, y, slice, image));
    return row;
}

void invocation(ivec2 at, int slice, int image) {
    int strip = at.y / STEP;
    int Y = first_row + at.y + strip * (STEP * (STRIP - 1));
    int left = first_x + stride_x * at.x;
    int top = first_y + stride_y * Y;
    vec4 folded[STRIP];
    for (int r = 0; r < ROWS; r++) {
        vec4 row = row_of(left, top + dilation_y * r, slice, image);
        for (int i = 0; i < STRIP; i++) {
            int q = r - i;
            if (q == 0)
                folded[i] = row;
            else if (q > 0 && q < KERNEL_HEIGHT)
                folded[i] = fold(folded[i], row);
        }
    }
    for (int i = 0; i < STRIP; i++, Y += STEP)
        if (Y < end_row)
            store_destination(at.x, Y, slice, image, finished(folded[i], at.x, Y));
}
