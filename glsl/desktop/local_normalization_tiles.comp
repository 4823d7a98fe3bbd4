// As normalization/local_normalization.comp, by tiles: a group makes STATS_X x STATS_Y results of a
// slice.
// needs desktop/local_tile.glsl
// needs normalization/scale_power.glsl
void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int image = layer_quotient(at.z, destination_slices);
    int slice = at.z - image * destination_slices;
    ivec2 tile = ivec2((at.x - lane) / LANES, at.y) * ivec2(STATS_X, STATS_Y);
    ivec2 corner = tile + ivec2(region_x + first_x, region_y + first_y);
    vec4 about = about_pixel(corner + ivec2(KEPT_X, KEPT_Y) / 2, slice, image);
    keep_rows(lane, corner, slice, image, about);
    for (int i = lane; i < STATS_X * STATS_Y; i += LANES) {
        ivec2 own = ivec2(i % STATS_X, i / STATS_X);
        ivec2 to = tile + own;
        if (to.x >= region_width || to.y >= region_height)
            continue;
        local_statistics s = tile_statistics(own, about);
        store_destination(region_x + to.x, region_y + to.y, slice, image,
                          pm + ps * s.contrast * scale_power(s.scale));
    }
}
