// Number j of the result is number indices[j] of the source. Slices may have channels beyond the last:
// they stand for the last.
// needs slice/place_of.glsl
ivec3 place(ivec3 at) {
    int c = min(at.x, destination_channels - 1);
    return place_of(int(indices[(c * destination_height + at.y) * destination_width + at.z]));
}
