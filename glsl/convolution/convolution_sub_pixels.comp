// out(x, y, c) = sums(x / F, y / F, channels * (F * (y mod F) + (x mod F)) + c),   F the FACTOR
// x and y count from the corner of the region.
void invocation(ivec2 at, int slice, int image) {
    ivec2 from = at - ivec2(region_x, region_y);
    ivec2 pixel = from / FACTOR;
    ivec2 rest = from - pixel * FACTOR;
    int first = destination_channels * (FACTOR * rest.y + rest.x) + 4 * slice;
    vec4 value = vec4(0.0);
    for (int i = 0; i < 4; i++)
        if (4 * slice + i < destination_channels)
            value[i] = sums(pixel.x, pixel.y, (first + i) / 4, image)[(first + i) % 4];
    store_destination(at.x, at.y, slice, image, value);
}
