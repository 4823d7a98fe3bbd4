// What result pixel (X, Y) reads of texture NAME: source column
//     NAME_first_x + NAME_stride_x * X,   rows alike, strides 0 or 1
// and with NAME_stride_c 0 its first channel for every channel.
vec4 NAME_operand(int X, int Y, int slice, int image) {
    int x = NAME_first_x + NAME_stride_x * X;
    int y = NAME_first_y + NAME_stride_y * Y;
#ifdef NAME_clamped
    vec4 value = NAME_clamp(x, y, NAME_stride_c * slice, image);
#else
    vec4 value = NAME_zero(x, y, NAME_stride_c * slice, image);
#endif
    return NAME_stride_c == 0 ? value.xxxx : value;
}
