// part(x, Y) = the taps of result row Y in source column x, folded; the first of two passes.
// needs pooling/pooling_fold.glsl
// needs pooling/pooling_tap.glsl
void invocation(ivec2 at, int slice, int image) {
    int top = first_y + stride_y * (at.y + first_row);
    vec4 folded = tap(at.x + first_column, top, slice, image);
    for (int q = 1; q < KERNEL_HEIGHT; q++)
        folded = fold(folded,
                      tap(at.x + first_column, top + dilation_y * q, slice, image));
    store_part(at.x, at.y, slice, image, folded);
}
