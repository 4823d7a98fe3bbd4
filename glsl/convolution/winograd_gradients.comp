// W[point][tile][k] = A y A^T of each tile y of 4x4 of the gradient; sums[tile][k] = the sum of y
// An invocation owns a slice of a tile. After the last tile there are zeros.
// needs convolution/winograd.glsl
// needs convolution/winograd_tiles.glsl
void invocation(ivec3 at) {
    int k = at.x, tile = at.y;
    ivec3 X = place_of_tile(first_tile + tile);
    ivec2 begin = ivec2(begin_x, begin_y) + X.xy;
    bool live = first_tile + tile < tile_total;
    vec4 v[24], y[4], line[6], total = vec4(0.0);
    for (int x = 0; x < 4; x++) {
        for (int p = 0; p < 4; p++) {
            ivec2 t = begin + ivec2(x, p);
            vec4 g = gradient(min(t.x, end_x - 1), min(t.y, end_y - 1), k, X.z);
            y[p] = live && t.x < end_x && t.y < end_y ? g : vec4(0.0);
            total += y[p];
        }
        to_points_of_gradients(y, line);
        for (int p = 0; p < 6; p++)
            v[4 * p + x] = line[p];
    }
    for (int p = 0; p < 6; p++) {
        for (int x = 0; x < 4; x++)
            y[x] = v[4 * p + x];
        to_points_of_gradients(y, line);
        for (int x = 0; x < 6; x++)
            points[((6 * p + x) * tile_count + tile) * gradient_slices + k] = line[x];
    }
    sums[(first_tile + tile) * gradient_slices + k] = total;
}
