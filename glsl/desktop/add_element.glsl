// Four numbers of an element's gradient, those of outputs 4k and on; of the biases beyond the last.
// needs convolution/convolution.glsl
// needs convolution/convolution_gradient.glsl
void add_element(int k, int element, vec4 sum) {
    for (int i = 0; i < 4 && 4 * k + i < output_count; i++) {
        int o = 4 * k + i;
        int index = element < element_count ? weight_index(o, element) : -1;
        if (element == element_count)
            add_bias(o, sum[i]);
        else if (index >= 0)
            add_weight(index, sum[i]);
    }
}
