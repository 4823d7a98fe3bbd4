// out(X) = largest tap of window X; of equal taps, zeros of either sign, the first, row by row
// needs lib/compare.glsl
void invocation(ivec2 at, int slice, int image) {
    int left = first_x + stride_x * at.x;
    int top = first_y + stride_y * at.y;
    vec4 best = uintBitsToFloat(uvec4(0xff800000u)); // -infinity
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 value = source_edge(left + dilation_x * p, top + dilation_y * q, slice, image);
            best = larger(best, value);
        }
    store_destination(at.x, at.y, slice, image, best);
}
