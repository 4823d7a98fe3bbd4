// Weights of outputs 4k .. 4k + 3 as the user has them, where they lie in the order of elements, all
// of an output side by side.
vec4 weights_unpacked(int element, int k) {
    int first = 4 * k * element_count + element, last = (destination_channels - 1) * element_count;
    return vec4(weights[first], weights[min(first + element_count, last + element)],
                weights[min(first + 2 * element_count, last + element)],
                weights[min(first + 3 * element_count, last + element)]);
}
