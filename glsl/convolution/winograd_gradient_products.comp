// M(point, k, c) = sum over tiles t of W(point, t, k) * V(point, t, c)
// The sums are partial, of a chunk of rows of tiles, as those of convolution_gradient_weights_narrow.comp are, but of one
// tap and without masks. Invocation (chunk, point, s and k) has SLICES of inputs, of which the last may lie beyond.
// Biases are the sums of W at point (1, 1), which has the sum of a tile: invocations of the point after the last make
// them.
// needs lib/divide.glsl
#define POINTS     16
#define BIAS_POINT 5
#define PARTS      ((range + SLICES - 1) / SLICES)

void keep(int chunk, int point, int k, int element, vec4 value) {
    int slice = (first_chunk + chunk) * POINTS * slice_total + point * slice_total + k;
    partial_sums[slice * (element_count + 1) + element] = value;
}

ivec3 place_of_point(int point) { return ivec3((point & 3) * tiles_x, (point >> 2) * tiles_y, 0); }

void sum_biases(int chunk, int k) {
    vec4 sum = vec4(0.0);
    int end = min((chunk + 1) * rows_per_chunk, row_total);
    for (int number = chunk * rows_per_chunk; number < end; number++) {
        int image = whole_quotient(number, tiles_y);
        ivec3 from = gradients_place(k, image) + place_of_point(BIAS_POINT);
        from.y += number - image * tiles_y;
        for (int x = 0; x < tiles_x; x++)
            sum += gradients_at(from, x, 0, k);
    }
    keep(chunk, BIAS_POINT, k, element_count, sum);
}

void sum_products(int chunk, int point, int k, int s) {
    vec4 sum[SLICES * 4];
    for (int i = 0; i < SLICES * 4; i++)
        sum[i] = vec4(0.0);
    int end = min((chunk + 1) * rows_per_chunk, row_total);
    for (int number = chunk * rows_per_chunk; number < end; number++) {
        int image = whole_quotient(number, tiles_y);
        ivec3 place = place_of_point(point), rows[SLICES];
        place.y += number - image * tiles_y;
        ivec3 from = gradients_place(k, image) + place;
        for (int t = 0; t < SLICES; t++)
            rows[t] = inputs_place(min(s + t, range - 1), image) + place;
        for (int x = 0; x < tiles_x; x++) {
            vec4 g = gradients_at(from, x, 0, k);
            for (int t = 0; t < SLICES; t++) {
                vec4 v = inputs_at(rows[t], x, 0, s + t);
                for (int c = 0; c < 4; c++)
                    sum[t * 4 + c] += g * v[c];
            }
        }
    }
    for (int t = 0; t < SLICES; t++)
        for (int c = 0; c < 4 && s + t < range; c++)
            keep(chunk, point, k, (s + t) * 4 + c, sum[t * 4 + c]);
}

void invocation(ivec3 at) {
    int k = whole_quotient(at.z, PARTS), s = SLICES * (at.z - k * PARTS);
    if (at.y < POINTS)
        sum_products(at.x, at.y, k, s);
    else if (s == 0)
        sum_biases(at.x, k);
}
