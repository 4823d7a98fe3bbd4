// out(n R + r, Y, X) = source n at the position of (Y, X) in region r of it, interpolated; R regions an
// image
// needs lib/blend.glsl
// needs crop_and_resize/crop_axis.glsl
void invocation(ivec2 at, int slice, int image) {
    int n = quotient(image, region_count);
    vec4 region = region_of(image - n * region_count, n);
    taps x = taps_of(at.x, region_axis(resize_width, source_width, region.x, region.z));
    taps y = taps_of(at.y, region_axis(resize_height, source_height, region.y, region.w));
    vec4 above = blend(source_edge(x.low, y.low, slice, n),
                       source_edge(x.low + 1, y.low, slice, n), x.share);
    vec4 below = blend(source_edge(x.low, y.low + 1, slice, n),
                       source_edge(x.low + 1, y.low + 1, slice, n), x.share);
    store_destination(at.x, at.y, slice, image, blend(above, below, y.share));
}
