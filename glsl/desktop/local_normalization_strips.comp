// As normalization/local_normalization.comp, by strips: a group makes PARTS rows of results of a
// slice, LANES - TAPS_X + 1 in each.
// needs desktop/local_strip.glsl
// needs normalization/scale_power.glsl
void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int image = layer_quotient(at.z, destination_slices);
    int slice = at.z - image * destination_slices;
    ivec2 to = ivec2((at.x - lane) / LANES * (LANES - TAPS_X + 1), at.y * PARTS);
    ivec2 corner = to + ivec2(region_x + first_x, region_y + first_y);
    vec4 about = about_pixel(corner + ivec2(LANES, STRIP_ROWS) / 2, slice, image);
    vec4 strip[STRIP_ROWS];
    keep_parts(strip, lane, ivec2(corner.x + lane, corner.y), slice, image, about);
    int own = lane - TAPS_X / 2;
    to.x += own;
    if (own < 0 || own > LANES - TAPS_X || to.x >= region_width)
        return;
    for (int i = 0; i < PARTS; i++)
        if (to.y + i < region_height) {
            local_statistics s = strip_statistics(strip, lane, i, about);
            store_destination(region_x + to.x, region_y + to.y + i, slice, image,
                              pm + ps * s.contrast * scale_power(s.scale));
        }
}
