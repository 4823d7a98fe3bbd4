// What result pixel (X, Y) reads of texture "primary": source column
//     primary_first_x + PRIMARY_STRIDE_X * X,   rows alike, strides 0 or 1
// and with PRIMARY_STRIDE_C 0 its first channel for every channel.
vec4 primary_operand(int X, int Y, int slice, int image) {
    int x = primary_first_x + PRIMARY_STRIDE_X * X;
    int y = primary_first_y + PRIMARY_STRIDE_Y * Y;
#ifdef PRIMARY_CLAMP
    vec4 value = primary_clamp(x, y, PRIMARY_STRIDE_C * slice, image);
#else
    vec4 value = primary_zero(x, y, PRIMARY_STRIDE_C * slice, image);
#endif
    return PRIMARY_STRIDE_C == 0 ? value.xxxx : value;
}
