// Of run at.x, `span` rows counted through all images, of slice at.y:
//     image 0: sum g',   image 1: sum g' xh
//     xh = (x - mean) / sqrt(variance + epsilon),   g' = G act'(gamma xh + beta)
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
        int image = row / source_height;
        int y = row - image * source_height;
        for (int left = 0; left < source_width; left += BLOCK) {
            vec4 part = vec4(0.0);
            vec4 part_xh = vec4(0.0);
            for (int i = 0; i < BLOCK; i++) {
                int x = min(left + i, source_width - 1);
                vec4 d = source(x, y, at.y, image) - mean;
                vec4 g = gathered(x, y, at.y, image) * neuron_derivative(scale * d + beta, slope);
                g = left + i < source_width ? g : vec4(0.0);
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
