// out(X) = (sum over taps inside the image of source) / N(X);   0 where N is 0 or no tap is inside
// Rows are summed apart: large windows keep their digits.
// needs pooling/average.glsl
void invocation(ivec2 at, int slice, int image) {
    int left = first_x + stride_x * at.x;
    int top = first_y + stride_y * at.y;
    vec4 sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++) {
        vec4 row = vec4(0.0);
        for (int p = 0; p < KERNEL_WIDTH; p++)
            row += source_zero(left + p, top + q, slice, image);
        sum += row;
    }
    float count = average_count(at.x, at.y, source_width, source_height);
    store_destination(at.x, at.y, slice, image, count > 0.0 ? sum / count : vec4(0.0));
}
