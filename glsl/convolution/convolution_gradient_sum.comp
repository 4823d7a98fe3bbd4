// dW, db (+)= sum over chunks, in their order, of the partial sums that
// convolution/convolution_gradient_weights.comp left.
// Invocation (element, k) owns four numbers.
// needs convolution/convolution.glsl
// needs convolution/convolution_gradient.glsl
void invocation(ivec3 at) {
    int element = at.x;
    vec4 sum = vec4(0.0);
    for (int chunk = 0; chunk < chunk_count; chunk++)
        sum += partial_sums[(chunk * slice_total + at.y) * (element_count + 1) + element];
    for (int i = 0; i < 4; i++) {
        int o = 4 * at.y + i;
        if (o >= output_count)
            return;
        if (element == element_count) {
            add_bias(o, sum[i]);
            continue;
        }
        int index = weight_index(o, element);
        if (index >= 0)
            add_weight(index, sum[i]);
    }
}
