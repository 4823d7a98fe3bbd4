// Column, row and image of the first pixel of a tile of 4x4; the tiles of all images are numbered
// through. With `tile` beyond the last, the last.
ivec3 place_of_tile(int tile) {
    tile = min(tile, tile_total - 1);
    int row = quotient(tile, tiles_x);
    int image = quotient(row, tiles_y);
    return ivec3(4 * (tile - row * tiles_x), 4 * (row - image * tiles_y), image);
}
