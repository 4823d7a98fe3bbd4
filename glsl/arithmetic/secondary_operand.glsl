// What result pixel (X, Y) reads of texture "secondary": source column
//     secondary_first_x + SECONDARY_STRIDE_X * X,   rows alike, strides 0 or 1
// and with SECONDARY_STRIDE_C 0 its first channel for every channel.
vec4 secondary_operand(int X, int Y, int slice, int image) {
    int x = secondary_first_x + SECONDARY_STRIDE_X * X;
    int y = secondary_first_y + SECONDARY_STRIDE_Y * Y;
#ifdef SECONDARY_CLAMP
    vec4 value = secondary_clamp(x, y, SECONDARY_STRIDE_C * slice, image);
#else
    vec4 value = secondary_zero(x, y, SECONDARY_STRIDE_C * slice, image);
#endif
    return SECONDARY_STRIDE_C == 0 ? value.xxxx : value;
}
