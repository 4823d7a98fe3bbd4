// dW(k, q, ., c) = (G^T M G)[q], M the sum over chunks of those of
// convolution/winograd_gradient_products.comp
//     G^T = 1 1/2 1/2 0,  0 1/2 -1/2 0,  0 1/2 1/2 1
// The results are partial sums of one chunk, in the order of the window's elements. Invocation (element, q, k).
#define POINTS     16
#define BIAS_POINT 5

void keep(int k, int element, vec4 value) {
    sums[k * (9 * element_count + 1) + element] = value;
}

void sum_biases(int first, int point, int k) {
    vec4 sum = vec4(0.0);
    for (int chunk = 0; chunk < chunk_count; chunk++)
        sum += partial_sums[first + (chunk * POINTS + BIAS_POINT) * point];
    keep(k, 9 * element_count, sum);
}

// `point` is the distance from the numbers of a point to those of the next.
void sum_weights(int first, int point, int element, int q, int k) {
    vec4 left = vec4(0.0), middle = left, right = left;
    int begin = q == 0 ? 0 : 1, end = q == 2 ? 4 : 3;
    for (int chunk = 0; chunk < chunk_count; chunk++)
        for (int r = begin; r < end; r++) {
            int at = first + (chunk * POINTS + 4 * r) * point;
            float factor = r == 0 || r == 3 ? 1.0 : q == 1 && r == 2 ? -0.5 : 0.5;
            vec4 m1 = 0.5 * factor * partial_sums[at + point];
            vec4 m2 = 0.5 * factor * partial_sums[at + 2 * point];
            left += factor * partial_sums[at] + (m1 + m2);
            middle += m1 - m2;
            right += m1 + m2 + factor * partial_sums[at + 3 * point];
        }
    int to = 3 * q * element_count + element;
    keep(k, to, left);
    keep(k, to + element_count, middle);
    keep(k, to + 2 * element_count, right);
}

void invocation(ivec3 at) {
    int each = element_count + 1, first = at.z * each + at.x;
    if (at.x < element_count)
        sum_weights(first, slice_total * each, at.x, at.y, at.z);
    else if (at.y == 0)
        sum_biases(first, slice_total * each, at.z);
}
