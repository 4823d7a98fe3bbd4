// V = B^T d B of each tile d of 6x6 inputs, whose results begin at pixel `first_tile + tile`
// An invocation owns a slice of a tile. It leaves V[point][input][tile], or with TILES_DEEP, for
// sums over tiles, V[point][tile][input]. After the last tile there are zeros.
// needs convolution/input.glsl
// needs convolution/winograd.glsl
// needs convolution/winograd_tiles.glsl
void keep(int point, int tile, int slice, vec4 value) {
#ifdef TILES_DEEP
    points[(point * tile_count + tile) * source_slices + slice] = value;
#else
    for (int c = 0; c < 4; c++)
        points[(point * source_slices * 4 + slice * 4 + c) * tile_count + tile] = value[c];
#endif
}

void invocation(ivec3 at) {
#ifdef TILES_DEEP
    int slice = at.x, tile = at.y;
#else
    int slice = at.y, tile = at.x;
#endif
    bool live = first_tile + tile < tile_total;
    ivec3 X = place_of_tile(first_tile + tile);
    ivec2 corner = ivec2(first_x, first_y) + X.xy;
    vec4 v[POINTS], line[6];
    for (int x = 0; x < 6; x++) {
        for (int y = 0; y < 6; y++)
            line[y] = live ? input_at(corner + ivec2(x, y), slice, X.z) : vec4(0.0);
        to_points_of_inputs(line);
        for (int y = 0; y < 6; y++)
            v[6 * y + x] = line[y];
    }
    for (int y = 0; y < 6; y++) {
        for (int x = 0; x < 6; x++)
            line[x] = v[6 * y + x];
        to_points_of_inputs(line);
        for (int x = 0; x < 6; x++)
            keep(6 * y + x, tile, slice, line[x]);
    }
}
