// out = the elements of `source`, then those of `secondary` along AXIS: 0 channels, 1 rows, 2 columns
// `first` elements are the source's; WHOLE_SLICES: channels of it fill whole slices.
// Both are read and one is taken by its bits: where a branch chooses between images of bytes,
// llvmpipe keeps the numbers in 16 bits.
float element(int x, int y, int c, int image) {
    int d = c - first;
    if (d < 0)
        return source(x, y, c >> 2, image)[c & 3];
    return secondary(x, y, min(d, secondary_channels - 1) >> 2, image)[d & 3];
}

vec4 joined(int x, int y, int slice, int image) {
#if AXIS == 0 && !defined(WHOLE_SLICES)
    vec4 v = vec4(0.0);
    for (int i = 0; i < 4; i++)
        v[i] = element(x, y, 4 * slice + i, image);
    return v;
#else
    ivec3 second = ivec3(slice, y, x);
    second[AXIS] -= AXIS == 0 ? first / 4 : first;
    uvec4 ours = floatBitsToUint(source_clamp(x, y, min(slice, source_slices - 1), image));
    uvec4 theirs =
        floatBitsToUint(secondary_clamp(second.z, second.y, max(second.x, 0), image));
    uvec4 mask = uvec4(second[AXIS] < 0 ? 0xffffffffu : 0u);
    return uintBitsToFloat(ours & mask | theirs & ~mask);
#endif
}

void invocation(ivec2 at, int slice, int image) {
    store_destination(at.x, at.y, slice, image, joined(at.x, at.y, slice, image));
}
