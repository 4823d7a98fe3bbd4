// destination = 0 over the grid: x, y, slice + image * slices.
void invocation(ivec3 at) {
    store_destination(at.x, at.y, at.z % destination_slices, at.z / destination_slices, vec4(0.0));
}
