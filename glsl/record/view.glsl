// Where NAME lies in its array texture, and which of its components count. Of each texture and
// image that a body has there is one copy of this file, with its name for the word in capitals.
#define NAME_slices ((NAME_channels + 3) / 4)

// Place of the first pixel of a slice of an image.
//     NAME_across, NAME_down   layers that lie side by side in a cell, to the right first, each
//                              NAME_cell_width by NAME_cell_height: constants, since division by a
//                              variable is dear, and unsigned, since powers of two become shifts
//     NAME_tile_width, _height of a folded texture, whose layer L lies at layer L / tiles, in tile
//     NAME_tiles, NAME_tiles_x L mod tiles: neighbours lie beside each other; to the right first
ivec3 NAME_place(int slice, int image) {
    int x = 0, y = 0, layer = NAME_layer + image * NAME_stride + slice;
#ifdef NAME_across
    uint cell = uint(layer) / (NAME_across * NAME_down);
    uint beside = uint(layer) - cell * (NAME_across * NAME_down);
    x = int(beside % NAME_across * NAME_cell_width);
    y = int(beside / NAME_across * NAME_cell_height);
    layer = int(cell);
#endif
#ifdef NAME_tile_width
    uint folded = uint(layer) / NAME_tiles;
    uint tile = uint(layer) - folded * NAME_tiles;
    x += int(tile % NAME_tiles_x * NAME_tile_width);
    y += int(tile / NAME_tiles_x * NAME_tile_height);
    layer = int(folded);
#endif
    return ivec3(x, y, layer);
}

// v with 0 beyond the last channel.
vec4 NAME_channels_of(vec4 v, int slice) {
    ivec4 channel = ivec4(slice * 4) + ivec4(0, 1, 2, 3);
    return mix(v, vec4(0.0), greaterThanEqual(channel, ivec4(NAME_channels)));
}
