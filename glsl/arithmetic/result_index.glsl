// Position of four channels of result pixel (X, Y) in a vector [image][row][column][slice].
int result_index(int X, int Y, int slice, int image, ivec3 size) {
    return ((image * size.y + Y) * size.x + X) * size.z + slice;
}
