// Of run at.x, `span` of the group's `rows` rows of results counted through its images, of slice
// at.y, group at.z:
//     image 2 at.z: sum g',   image 2 at.z + 1: sum g' xh
//     xh = (x - mean) / sqrt(variance + epsilon),   g' = G act'(gamma xh + beta)
// over results X with x = source(first + X): one that reads outside the source has its part too.
// needs lib/compare.glsl
// needs lib/divide.glsl
// needs normalization/normalization.glsl
void invocation(ivec3 at) {
    vec4 mean = mean_of(at.y, at.z);
    vec4 scale = scale_of(at.y, at.z);
    vec4 beta = beta_of(at.y, at.z);
    vec4 slope = neuron_slope(at.y);
    vec4 sum = vec4(0.0);
    vec4 sum_xh = vec4(0.0);
    int end = at.z * rows + min((at.x + 1) * span, rows);
    for (int row = at.z * rows + at.x * span; row < end; row++) {
        int image = whole_quotient(row, image_rows);
        int Y = begin_y + row - image * image_rows;
        vec4 part = vec4(0.0);
        vec4 part_xh = vec4(0.0);
        for (int left = begin_x; left < end_x; left += BLOCK)
            for (int i = 0; i < BLOCK; i++) {
#if BLOCK > 1
                int X = min(left + i, end_x - 1);
#else
                int X = left;
#endif
                vec4 d = source_edge(first_x + X, first_y + Y, at.y, image) - mean;
                vec4 g = times(neuron_derivative(scale * d + beta, slope),
                               gradient(X, Y, at.y, image));
#if BLOCK > 1
                g = left + i < end_x ? g : vec4(0.0);
#endif
                part += g;
                part_xh += g * d;
            }
        sum += part;
        sum_xh += part_xh;
    }
    store_merged(at.x, 0, at.y, 2 * at.z, sum);
    store_merged(at.x, 0, at.y, 2 * at.z + 1, sum_xh * rate_of(at.y, at.z));
}
