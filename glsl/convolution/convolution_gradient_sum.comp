// dW, db (+)= sum over chunks of the partial sums that convolution/convolution_gradient_weights.comp
// left: in their order, or the sum of the sums of runs of chunks_per_run.
// Invocation (element, k) owns four numbers. WITHOUT_BIASES: db is not stored.
// needs convolution/convolution.glsl
// needs convolution/convolution_gradient.glsl
// needs convolution/chunks.glsl
void invocation(ivec3 at) {
    int element = at.x;
    int each = element_count + 1;
    vec4 sum = sum_of_chunks(at.y * each + element, slice_total * each, chunk_count,
                             chunks_per_run);
    ivec2 parts = element_parts(at.y, element);
    for (int i = 0; i < 4; i++) {
        int o = 4 * at.y + i;
        if (o >= output_count)
            return;
        if (element == element_count) {
#ifndef WITHOUT_BIASES
            add_bias(o, sum[i]);
#endif
            continue;
        }
        int index = weight_index_of(o, parts);
        if (index >= 0)
            add_weight(index, sum[i]);
    }
}
