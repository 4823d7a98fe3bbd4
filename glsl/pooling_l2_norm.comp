// out(X) = sqrt(sum over taps of source^2)
void invocation(ivec3 at) {
    int slice = at.z % destination_slices;
    int image = at.z / destination_slices;
    vec4 sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 v = source_edge(first_x + stride_x * at.x + p, first_y + stride_y * at.y + q, slice, image);
            sum += v * v;
        }
    store_destination(at.x, at.y, slice, image, sqrt(sum));
}
