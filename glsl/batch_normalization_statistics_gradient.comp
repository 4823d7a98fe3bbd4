// Of run at.x, `span` rows of results counted through all images, of slice at.y:
//     image 0: sum g',   image 1: sum g' xh
//     xh = (x - mean) / sqrt(variance + epsilon),   g' = G act'(gamma xh + beta)
// over results X with x = source(first + X): one that reads outside the source has its part too.
void invocation(ivec3 at) {
    vec4 mean = coefficients(0, 0, at.y, 0);
    vec4 scale = coefficients(1, 0, at.y, 0);
    vec4 beta = coefficients(2, 0, at.y, 0);
    vec4 rate = coefficients(3, 0, at.y, 0);
    vec4 slope = neuron_slope(at.y);
    vec4 sum = vec4(0.0);
    vec4 sum_xh = vec4(0.0);
    int end = min((at.x + 1) * span, rows);
    for (int row = at.x * span; row < end; row++) {
        int image = row / image_rows;
        int Y = begin_y + row - image * image_rows;
        for (int left = begin_x; left < end_x; left += BLOCK) {
            vec4 part = vec4(0.0);
            vec4 part_xh = vec4(0.0);
            for (int i = 0; i < BLOCK; i++) {
                int X = min(left + i, end_x - 1);
                vec4 d = source_edge(first_x + X, first_y + Y, at.y, image) - mean;
                vec4 g = gradient(X, Y, at.y, image) * neuron_derivative(scale * d + beta, slope);
                g = left + i < end_x ? g : vec4(0.0);
                part += g;
                part_xh += g * (d * rate);
            }
            sum += part;
            sum_xh += part_xh;
        }
    }
    store_merged(at.x, 0, at.y, 0, sum);
    store_merged(at.x, 0, at.y, 1, sum_xh);
}
