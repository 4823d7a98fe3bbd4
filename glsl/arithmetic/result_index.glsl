// Position of four channels of result pixel (X, Y) in a vector [image][slice][row][column], as in
// textures: invocations side by side have columns side by side.
int result_index(int X, int Y, int slice, int image, ivec3 size) {
    return ((image * size.z + slice) * size.y + Y) * size.x + X;
}
