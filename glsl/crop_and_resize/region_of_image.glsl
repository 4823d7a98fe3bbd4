// Region r of an image of the source, row by row in the image of regions beside it: column, row, width
// and height, in sizes of the source.
vec4 region_of(int r, int image) {
    int row = quotient(r, regions_width);
    return regions(r - row * regions_width, row, 0, image);
}
