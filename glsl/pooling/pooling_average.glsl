// Number of pixels that an average divides by: the whole window, or those of the image enlarged by
// the zero pad.
float average_count(int X, int Y, int width, int height) {
#ifdef WHOLE_WINDOW
    return float(KERNEL_WIDTH * KERNEL_HEIGHT);
#else
    int left = first_x + stride_x * X;
    int top = first_y + stride_y * Y;
    int columns = min(left + KERNEL_WIDTH, width + zero_pad_x) - max(left, -zero_pad_x);
    int rows = min(top + KERNEL_HEIGHT, height + zero_pad_y) - max(top, -zero_pad_y);
    return float(max(columns, 0) * max(rows, 0));
#endif
}
