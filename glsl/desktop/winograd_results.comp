// out = neuron(b + A^T M A), M[point][k][tile] the sums of a tile at the points
// A group of 96 invocations makes 16 tiles of 4x4 results of a slice: each transforms a column, and
// then some results, neighbours of which are stored by neighbours.
// needs desktop/bias.glsl
// needs desktop/winograd.glsl
// needs desktop/winograd_tiles.glsl
// needs desktop/winograd_place.glsl
#define OWNED 16

shared vec4 kept[24 * OWNED];

void keep_column(int own, int x, int tile, int k) {
    int pitch = product_pitch(tile_count), place = product_place(min(tile, tile_count - 1));
    vec4 line[6], y[4];
    for (int p = 0; p < 6; p++)
        line[p] = products[((6 * p + x) * destination_slices + k) * pitch + place];
    from_points_of_results(line, y);
    for (int p = 0; p < 4; p++)
        kept[(6 * p + x) * OWNED + own] = y[p];
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), first = (at.x - lane) / 6, k = at.y;
    vec4 bias = bias_of(k), slope = neuron_slope(k);
    keep_column(lane % OWNED, lane / OWNED, first + lane % OWNED, k);
    barrier();
    for (int n = lane; n < 16 * OWNED; n += 6 * OWNED) {
        int x = n & 3, own = n >> 2 & 15, y = n >> 6;
        ivec3 X = place_of_tile(first_tile + first + own) + ivec3(x, y, 0);
        vec4 line[6];
        for (int i = 0; i < 6; i++)
            line[i] = kept[(6 * y + i) * OWNED + own];
        bool live = first + own < tile_count && first_tile + first + own < tile_total;
        if (live && X.x < region_width && X.y < region_height)
            store_destination(region_x + X.x, region_y + X.y, k, X.z,
                              neuron(result_of_points(line, x) + bias, slope));
    }
}
