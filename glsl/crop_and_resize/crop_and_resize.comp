// out(n R + r, Y, X) = source n at the position of (Y, X) in region r of it, interpolated; R regions an
// image. Further than a pixel from the source all positions are alike.
// needs lib/blend.glsl
// needs crop_and_resize/crop_axis.glsl
void invocation(ivec2 at, int slice, int image) {
    int n = quotient(image, region_count);
    ivec2 size = ivec2(source_width, source_height);
    vec2 position = position_of(at, region_of(image - n * region_count, n), size);
    position = held_within(position, vec2(-2.0), vec2(size + 1));
    vec2 share = position - floor(position);
    ivec2 p = ivec2(floor(position));
    vec4 above = blend(source_edge(p.x, p.y, slice, n), source_edge(p.x + 1, p.y, slice, n), share.x);
    vec4 below = blend(source_edge(p.x, p.y + 1, slice, n),
                       source_edge(p.x + 1, p.y + 1, slice, n), share.x);
    store_destination(at.x, at.y, slice, image, blend(above, below, share.y));
}
