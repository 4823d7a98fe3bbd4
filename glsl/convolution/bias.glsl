// b(k): the last element of packed weights.
vec4 bias_of(int k) {
    return matrix(PACKED_X(element_count), PACKED_Y(element_count), 0, k);
}
