// dW (+)= G^T (sum over chunks of products[chunk][point][k][input]) G;   db (+)= sum of sums[tile][k]
// A group of 96 invocations owns 16 inputs of a slice of outputs: each transforms a column, and then
// half of them a row each of what all have kept. The group after the last inputs owns the biases.
// needs convolution/convolution.glsl
// needs convolution/convolution_gradient.glsl
// needs desktop/winograd.glsl
// needs desktop/winograd_place.glsl
#define OWNED 16
#define LANES (6 * OWNED)

shared vec4 kept[18 * OWNED];

vec4 sum_at(int point, int from, int k) {
    int pitch = product_pitch(input_count), place = product_place(min(from, input_count - 1));
    vec4 sum = vec4(0.0);
    for (int chunk = 0; chunk < chunk_count; chunk++)
        sum += products[((chunk * POINTS + point) * slice_total + k) * pitch + place];
    return sum;
}

// One after the other and not in a loop, which compilers may leave as it is: the places in `line`
// would not be constants then.
void keep_column(int own, int x, int from, int k) {
    vec4 line[6], g[3];
    line[0] = sum_at(x, from, k);
    line[1] = sum_at(6 + x, from, k);
    line[2] = sum_at(12 + x, from, k);
    line[3] = sum_at(18 + x, from, k);
    line[4] = sum_at(24 + x, from, k);
    line[5] = sum_at(30 + x, from, k);
    from_points_of_weights(line, g);
    for (int y = 0; y < 3; y++)
        kept[(6 * y + x) * OWNED + own] = g[y];
}

void add_tap(int k, int q, int p, int from, vec4 value) {
    for (int i = 0; i < 4; i++)
        if (4 * k + i < output_count)
            add_weight(dense_weight_index(4 * k + i, q, p, from), value[i]);
}

void add_row(int own, int y, int from, int k) {
    vec4 line[6], g[3];
    for (int x = 0; x < 6; x++)
        line[x] = kept[(6 * y + x) * OWNED + own];
    from_points_of_weights(line, g);
    for (int x = 0; x < 3; x++)
        add_tap(k, y, x, from, g[x]);
}

void keep_sums(int lane, int k) {
    vec4 total = vec4(0.0);
    for (int tile = lane; tile < tile_total; tile += LANES)
        total += sums[tile * slice_total + k];
    kept[lane] = total;
}

void add_biases(int k) {
    vec4 total = kept[0];
    for (int i = 1; i < LANES; i++)
        total += kept[i];
    for (int i = 0; i < 4; i++)
        if (4 * k + i < output_count)
            add_bias(4 * k + i, total[i]);
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), first = (at.x - lane) / 6, k = at.y;
    int own = lane % OWNED, part = lane / OWNED;
    bool biases = first >= input_count;
    if (biases)
        keep_sums(lane, k);
    else
        keep_column(own, part, first + own, k);
    barrier();
    if (biases && lane == 0)
        add_biases(k);
    if (!biases && part < 3 && first + own < inputs_per_group)
        add_row(own, part, first + own, k);
}
