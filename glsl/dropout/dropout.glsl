// A value where its mask is 1, times 1 / keep_probability; 0, whatever the value, where it is 0.
// The mask of source pixel (x, y), which must be one, is element [y][x][channel] of its image's,
// with one element along axes of stride 0; sixteen of them are the bits of a word. Components beyond
// the last channel take the last channel's.
vec4 dropped(vec4 value, int x, int y, int slice, int image, ivec3 size) {
    ivec3 stride = ivec3(MASK_STRIDE_X, MASK_STRIDE_Y, MASK_STRIDE_C);
    ivec3 extent = (size - 1) * stride + 1;
    int base = (y * stride.y * extent.x + x * stride.x) * extent.z;
    ivec4 c = min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), ivec4(size.z - 1)) * stride.z + base;
    int words = (extent.x * extent.y * extent.z + 15) / 16 * image;
    int first = int(mask[words + c.x / 16]), last = int(mask[words + c.w / 16]);
    ivec4 word = mix(ivec4(first), ivec4(last), notEqual(c / 16, ivec4(c.x / 16)));
    ivec4 keep = (word >> (c & 15)) & 1;
    return mix(vec4(0.0), value / keep_probability, equal(keep, ivec4(1)));
}
