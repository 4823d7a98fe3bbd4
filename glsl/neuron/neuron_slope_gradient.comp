// Of run at.x, `span` of the `rows` rows of results counted through all images, of slice at.y:
//     sum of G(X) df/dslope(x),   x = source(first + X)
// One that reads outside the source has its part too.
// needs neuron/neuron.glsl
void invocation(ivec3 at) {
    vec4 sum = vec4(0.0);
    int end = min((at.x + 1) * span, rows);
    for (int row = at.x * span; row < end; row++) {
        int image = row / image_rows;
        int Y = begin_y + row - image * image_rows;
        vec4 part = vec4(0.0);
        for (int left = begin_x; left < end_x; left += BLOCK)
            for (int i = 0; i < BLOCK; i++) {
                int X = min(left + i, end_x - 1);
                vec4 x = source_edge(first_x + X, first_y + Y, at.y, image);
                vec4 term = neuron_by_slope(x, gradient(X, Y, at.y, image));
                part += left + i < end_x ? term : vec4(0.0);
            }
        sum += part;
    }
    store_merged(at.x, 0, at.y, 0, sum);
}
