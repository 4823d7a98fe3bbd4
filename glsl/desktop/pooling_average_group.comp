// out(X) as in pooling/pooling_average.comp, a window to a group: its LANES invocations share the taps.
// needs lib/lanes.glsl
// needs pooling/average.glsl
void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int X = (at.x - origin_x - lane) / LANES + origin_x;
    int image = layer_quotient(at.z, destination_slices);
    int slice = at.z - image * destination_slices;
    vec4 sum = vec4(0.0);
    for (int tap = lane; tap < KERNEL_WIDTH * KERNEL_HEIGHT; tap += LANES) {
        int q = tap / KERNEL_WIDTH;
        sum += source_zero(first_x + stride_x * X + tap - q * KERNEL_WIDTH,
                           first_y + stride_y * at.y + q, slice, image);
    }
    sum = sum_of_lanes(lane, sum);
    float count = average_count(X, at.y, source_width, source_height);
    if (lane == 0)
        store_destination(X, at.y, slice, image, count > 0.0 ? sum / count : vec4(0.0));
}
