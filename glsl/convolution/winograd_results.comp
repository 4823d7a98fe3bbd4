// out = neuron(b + A^T M A), M[point][k][tile] the sums of a tile at the points
// An invocation owns a slice of a tile of 4x4 results.
// needs convolution/bias.glsl
// needs convolution/winograd.glsl
// needs convolution/winograd_tiles.glsl
void invocation(ivec3 at) {
    int k = at.y;
    ivec3 X = place_of_tile(first_tile + at.x);
    vec4 v[24], line[6], y[4];
    for (int i = 0; i < 6; i++) {
        for (int p = 0; p < 6; p++)
            line[p] = products[((6 * p + i) * destination_slices + k) * tile_count + at.x];
        from_points_of_results(line, y);
        for (int p = 0; p < 4; p++)
            v[6 * p + i] = y[p];
    }
    vec4 bias = bias_of(k), slope = neuron_slope(k);
    for (int p = 0; p < 4; p++) {
        for (int i = 0; i < 6; i++)
            line[i] = v[6 * p + i];
        from_points_of_results(line, y);
        for (int i = 0; i < 4; i++)
            if (first_tile + at.x < tile_total && X.x + i < region_width && X.y + p < region_height)
                store_destination(region_x + X.x + i, region_y + X.y + p, k, X.z,
                                  neuron(y[i] + bias, slope));
    }
}
