// W[point][tile][k] = A y A^T of each tile y of 4x4 of the gradient; sums[tile][k] = the sum of y
// After the last tile there are zeros. A group of 96 invocations makes 16 slices of a tile: 64 of
// them transform a column each, and then all a row of what these have kept.
// needs desktop/winograd.glsl
// needs desktop/winograd_tiles.glsl
#define OWNED 16

shared vec4 kept[24 * OWNED], totals[4 * OWNED];

void keep_column(int own, int x, int tile, int k) {
    ivec3 X = place_of_tile(first_tile + tile) + ivec3(begin_x + x, begin_y, 0);
    bool live = first_tile + tile < tile_total && X.x < end_x;
    vec4 y[4], line[6], total = vec4(0.0);
    for (int p = 0; p < 4; p++) {
        vec4 g = gradient(min(X.x, end_x - 1), min(X.y + p, end_y - 1), k, X.z);
        y[p] = live && X.y + p < end_y ? g : vec4(0.0);
        total += y[p];
    }
    to_points_of_gradients(y, line);
    for (int p = 0; p < 6; p++)
        kept[(4 * p + x) * OWNED + own] = line[p];
    totals[x * OWNED + own] = total;
}

void store_row(int own, int p, int tile, int k) {
    vec4 y[4], line[6], total = vec4(0.0);
    for (int x = 0; x < 4; x++) {
        y[x] = kept[(4 * p + x) * OWNED + own];
        total += totals[x * OWNED + own];
    }
    to_points_of_gradients(y, line);
    for (int x = 0; x < 6; x++)
        points[((6 * p + x) * tile_count + tile) * gradient_slices + k] = line[x];
    if (p == 0)
        sums[(first_tile + tile) * gradient_slices + k] = total;
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), tile = at.y;
    int own = lane % OWNED, part = lane / OWNED, k = (at.x - lane) / 6 + own;
    if (part < 4)
        keep_column(own, part, tile, min(k, gradient_slices - 1));
    barrier();
    if (k < gradient_slices)
        store_row(own, part, tile, k);
}
