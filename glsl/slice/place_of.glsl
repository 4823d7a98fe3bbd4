// Channel, row and column of number i of the source, counted channels first. FEW_ELEMENTS: no image
// has more numbers than floats divide.
// needs lib/divide.glsl
#ifdef FEW_ELEMENTS
#define element_quotient whole_quotient
#else
#define element_quotient quotient
#endif

ivec3 place_of(int i) {
    int row = element_quotient(i, source_width);
    int c = element_quotient(row, source_height);
    return ivec3(c, row - c * source_height, i - row * source_width);
}
