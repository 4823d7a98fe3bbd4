// b(k): the last element of packed weights, or as the user has them.
vec4 bias_of(int k) {
#ifndef UNPACKED
    return matrix(PACKED_X(element_count), PACKED_Y(element_count), 0, k);
#else
    vec4 value = vec4(0.0);
#ifdef BIASES
    for (int i = 0; i < 4 && 4 * k + i < destination_channels; i++)
        value[i] = biases[4 * k + i];
#endif
    return value;
#endif
}
