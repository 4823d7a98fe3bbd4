// matrix(element, k) = weights of outputs 4k .. 4k + 3, as convolution/convolution.glsl has them
// needs convolution/convolution.glsl
void invocation(ivec3 at) {
    int element = at.x + (at.y << PACKED_SHIFT);
    vec4 v = vec4(0.0);
    for (int i = 0; i < 4; i++) {
        int o = 4 * at.z + i;
        int index = -1;
        if (o < output_count && element < element_count)
            index = weight_index(o, element);
        if (index >= 0)
            v[i] = weights[index];
#ifdef BIASES
        if (o < output_count && element == element_count)
            v[i] = biases[o];
#endif
    }
    store_matrix(at.x, at.y, 0, at.z, v);
}
