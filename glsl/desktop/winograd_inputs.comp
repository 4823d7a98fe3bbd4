// V = B^T d B of each tile d of 6x6 inputs, whose results begin at pixel `first_tile + tile`
// It leaves V[point][input][tile], or with TILES_DEEP, for sums over tiles, V[point][tile][input].
// After the last tile there are zeros. A group of 96 invocations makes 16 tiles of a slice, or
// 16 slices of a tile: each transforms a column, and then a row of what they all have kept.
// needs convolution/input.glsl
// needs desktop/winograd.glsl
// needs desktop/winograd_tiles.glsl
#define OWNED 16

shared vec4 kept[POINTS * OWNED];

void store(int point, int tile, int slice, vec4 value) {
#ifdef TILES_DEEP
    points[(point * tile_count + tile) * source_slices + slice] = value;
#else
    for (int c = 0; c < 4; c++)
        points[(point * source_slices * 4 + slice * 4 + c) * tile_count + tile] = value[c];
#endif
}

void keep_column(int own, int x, int tile, int slice) {
    bool live = first_tile + tile < tile_total;
    ivec3 X = place_of_tile(first_tile + tile);
    ivec2 corner = ivec2(first_x + x, first_y) + X.xy;
    vec4 line[6];
    for (int y = 0; y < 6; y++)
        line[y] = live ? input_at(corner + ivec2(0, y), slice, X.z) : vec4(0.0);
    to_points_of_inputs(line);
    for (int y = 0; y < 6; y++)
        kept[(6 * y + x) * OWNED + own] = line[y];
}

void store_row(int own, int y, int tile, int slice) {
    vec4 line[6];
    for (int x = 0; x < 6; x++)
        line[x] = kept[(6 * y + x) * OWNED + own];
    to_points_of_inputs(line);
    for (int x = 0; x < 6; x++)
        store(6 * y + x, tile, slice, line[x]);
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int own = lane % OWNED, part = lane / OWNED, first = (at.x - lane) / 6;
#ifdef TILES_DEEP
    int slice = first + own, tile = at.y;
#else
    int slice = at.y, tile = first + own;
#endif
    keep_column(own, part, tile, min(slice, source_slices - 1));
    barrier();
    if (slice < source_slices && tile < tile_count)
        store_row(own, part, tile, slice);
}
