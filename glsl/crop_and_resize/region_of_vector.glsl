// Region r of every image of the source: column, row, width and height, in sizes of the source.
vec4 region_of(int r, int image) {
    return vec4(regions[4 * r], regions[4 * r + 1], regions[4 * r + 2], regions[4 * r + 3]);
}
