// U(s, c, point, k) = (G g G^T)[point], g the window of input 4s + c for outputs 4k .. 4k + 3
//     G = 1 0 0,  1/2 1/2 1/2,  1/2 -1/2 1/2,  0 0 1
// packed as the weights of a sum over one tap, of 16 times as many slices: point * slices + k. What is added
// to the sum of point (1, 1) is added to all four results: biases are its.
// An invocation makes row `at.z % 4` of points.
// needs convolution/convolution.glsl
vec4 weight(int k, int q, int p, int from) {
    vec4 value = vec4(0.0);
    for (int i = 0; i < 4; i++)
        if (4 * k + i < output_count)
            value[i] = weights[dense_weight_index(4 * k + i, q, p, from)];
    return value;
}

// Column p of row r of G g.
vec4 column(int k, int r, int p, int from) {
    if (r == 0 || r == 3)
        return weight(k, r == 0 ? 0 : 2, p, from);
    vec4 middle = weight(k, 1, p, from);
    return 0.5 * (weight(k, 0, p, from) + weight(k, 2, p, from) + (r == 1 ? middle : -middle));
}

void store(int element, int slice, vec4 value) {
#ifdef PACKED_BUFFER
    packed_weights[slice * (element_count + 1) + element] = value;
#else
    store_matrix(PACKED_X(element), PACKED_Y(element), 0, slice, value);
#endif
}

void invocation(ivec3 at) {
    int element = at.x, k = at.z >> 2, r = at.z & 3;
    int slice = 4 * r * slice_total + k;
    vec4 first = vec4(0.0), middle = first, last = first, bias = first;
    if (element < inputs_per_group) {
        first = column(k, r, 0, element);
        middle = column(k, r, 1, element);
        last = column(k, r, 2, element);
    }
#ifdef BIASES
    for (int i = 0; i < 4; i++)
        if (element == element_count && r == 1 && 4 * k + i < output_count)
            bias[i] = biases[4 * k + i];
#endif
    vec4 ends = 0.5 * (first + last);
    store(element, slice, first);
    store(element, slice + slice_total, ends + 0.5 * middle + bias);
    store(element, slice + 2 * slice_total, ends - 0.5 * middle);
    store(element, slice + 3 * slice_total, last);
}
