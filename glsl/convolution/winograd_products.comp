// M(point, t, k) = sum over inputs c of U(c, point, k) * V(point, t, c)
// A sum over one tap for each of 16 points, which have weights of their own and lie 4x4 beside each other
// in an image, each of tiles_x * tiles_y tiles t. An invocation makes PIXELS neighbours in a row of one slice
// of outputs; the last of a row overlaps the one before it.
// needs lib/divide.glsl
// needs convolution/convolution.glsl
// needs convolution/packed_weights.glsl
void invocation(ivec3 at) {
    WEIGHTS_PLACE weights = weights_of(at.z);
    int point = whole_quotient(at.z, products_slices), k = at.z - point * products_slices;
    int image = whole_quotient(at.y, tiles_y);
    int x = min(PIXELS * at.x, tiles_x - PIXELS) + (point & 3) * tiles_x;
    int y = at.y + ((point >> 2) - image) * tiles_y;
    vec4 sum[PIXELS], bias = weight(weights, element_count);
    for (int i = 0; i < PIXELS; i++)
        sum[i] = bias;
    for (int s = 0; s < range; s++) {
        ivec3 place = inputs_place(s, image) + ivec3(x, y, 0);
        vec4 w[4];
        for (int c = 0; c < 4; c++)
            w[c] = weight(weights, 4 * s + c);
        for (int i = 0; i < PIXELS; i++) {
            vec4 v = inputs_at(place, i, 0, s);
            for (int c = 0; c < 4; c++)
                sum[i] += w[c] * v[c];
        }
    }
    for (int i = 0; i < PIXELS; i++)
        store_products(x + i, y, k, image, sum[i]);
}
