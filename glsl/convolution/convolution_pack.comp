// matrix(element, k) = weights of outputs 4k .. 4k + 3, as convolution/convolution.glsl has them
// PACKED_BUFFER: in a buffer, a slice after the other.
// needs convolution/convolution.glsl
void invocation(ivec3 at) {
#ifdef PACKED_BUFFER
    int element = at.x;
#else
    int element = at.x + (at.y << PACKED_SHIFT);
#endif
    vec4 v = vec4(0.0);
    ivec2 parts = element_parts(at.z, element);
    for (int i = 0; i < 4; i++) {
        int o = 4 * at.z + i;
        int index = -1;
        if (o < output_count && element < element_count)
            index = weight_index_of(o, parts);
        if (index >= 0)
            v[i] = weights[index];
#ifdef BIASES
        if (o < output_count && element == element_count)
            v[i] = biases[o];
#endif
    }
#ifdef PACKED_BUFFER
    packed_weights[at.z * (element_count + 1) + element] = v;
#else
    store_matrix(at.x, at.y, 0, at.z, v);
#endif
}
