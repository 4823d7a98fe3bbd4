// dW (+)= G^T (sum over chunks of products[chunk][point][k][input]) G;   db (+)= sum of sums[run][k]
// An invocation owns an input and a slice of outputs; the one after the last input, the biases.
// needs convolution/convolution.glsl
// needs convolution/convolution_gradient.glsl
// needs convolution/winograd.glsl
// needs convolution/winograd_place.glsl
void add_biases(int k) {
    vec4 total = vec4(0.0);
    for (int run = 0; run < run_count; run++)
        total += sums[run * slice_total + k];
    for (int i = 0; i < 4; i++)
        if (4 * k + i < output_count)
            add_bias(4 * k + i, total[i]);
}

void add_tap(int k, int q, int p, int from, vec4 value) {
    for (int i = 0; i < 4; i++)
        if (4 * k + i < output_count && from < inputs_per_group)
            add_weight(dense_weight_index(4 * k + i, q, p, from), value[i]);
}

void invocation(ivec3 at) {
    int from = at.x, k = at.y, pitch = product_pitch(input_count), place = product_place(at.x);
    vec4 v[18], line[6], g[3];
    if (from == input_count) {
        add_biases(k);
        return;
    }
    for (int x = 0; x < 6; x++) {
        for (int y = 0; y < 6; y++) {
            line[y] = vec4(0.0);
            for (int chunk = 0; chunk < chunk_count; chunk++)
                line[y] += products[((chunk * POINTS + 6 * y + x) * slice_total + k) * pitch + place];
        }
        from_points_of_weights(line, g);
        for (int y = 0; y < 3; y++)
            v[6 * y + x] = g[y];
    }
    for (int y = 0; y < 3; y++) {
        for (int x = 0; x < 6; x++)
            line[x] = v[6 * y + x];
        from_points_of_weights(line, g);
        for (int x = 0; x < 3; x++)
            add_tap(k, y, x, from, g[x]);
    }
}
