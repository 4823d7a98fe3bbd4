// Number of pixels that an average divides by: the whole window, or those of the image enlarged by
// the zero pad. It is that along a row times that along a column.
#ifdef WHOLE_WINDOW
float count_x(int X, int width) { return float(KERNEL_WIDTH); }
float count_y(int Y, int height) { return float(KERNEL_HEIGHT); }
#else
float counted(int first_tap, int taps, int size, int pad) {
    return float(max(min(first_tap + taps, size + pad) - max(first_tap, -pad), 0));
}
float count_x(int X, int width) {
    return counted(first_x + stride_x * X, KERNEL_WIDTH, width, zero_pad_x);
}
float count_y(int Y, int height) {
    return counted(first_y + stride_y * Y, KERNEL_HEIGHT, height, zero_pad_y);
}
#endif

float average_count(int X, int Y, int width, int height) {
    return count_x(X, width) * count_y(Y, height);
}
