// out(X) = largest tap of window X, as pooling_max.comp finds it, and which tap that is in "winners"
// needs pooling/kept_result.glsl
void invocation(ivec2 at, int slice, int image) {
    ivec2 first = ivec2(first_x, first_y) + ivec2(stride_x, stride_y) * at;
    vec4 best = source_edge(first.x, first.y, slice, image), places = vec4(0.0), sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 value = source_edge(first.x + dilation_x * p, first.y + dilation_y * q, slice, image);
            bvec4 better = greaterThan(value, best);
            best = mix(best, value, better);
            places = mix(places, vec4(q * 8 + p), better);
            sum += value;
        }
    if (may_have_nan(sum))
        keep_result_with_care(at, slice, image);
    else
        keep_result(at, slice, image, best, places);
}
