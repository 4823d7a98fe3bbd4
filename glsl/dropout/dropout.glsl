// A value where its mask is 1, times 1 / keep_probability; 0, whatever the value, where it is 0.
// The mask of source pixel (x, y), which must be one, is at [image][y][x][channel] with one element
// along axes of stride 0. Components beyond the last channel take the last channel's.
vec4 dropped(vec4 value, int x, int y, int slice, int image, ivec3 size) {
    ivec3 stride = ivec3(MASK_STRIDE_X, MASK_STRIDE_Y, MASK_STRIDE_C);
    ivec3 extent = (size - 1) * stride + 1;
    int base = ((image * extent.y + y * stride.y) * extent.x + x * stride.x) * extent.z;
    ivec4 c = min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), ivec4(size.z - 1)) * stride.z + base;
    vec4 keep = vec4(mask[c.x], mask[c.y], mask[c.z], mask[c.w]);
    return mix(vec4(0.0), value / keep_probability, greaterThan(keep, vec4(0.5)));
}
