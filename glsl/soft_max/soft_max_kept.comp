// As soft_max/soft_max.comp, of few channels: all SLICES of a pixel are kept at once, so that each
// is read once and has its exponential found once.
// needs lib/channels.glsl
// needs lib/math.glsl
void invocation(ivec3 at) {
    vec4 kept[SLICES];
    for (int slice = 0; slice < SLICES; slice++)
        kept[slice] = source_edge(first_x + at.x, first_y + at.y, slice, at.z);
    float m = kept[0].x;
    for (int slice = 0; slice < SLICES; slice++)
        m = max(m, slice_max(kept[slice], slice, source_channels));
    long_sum terms = long_sum(0.0, 0.0);
    for (int slice = 0; slice < SLICES; slice++) {
        vec4 e = exp_precise(kept[slice] - m);
        add_slice(terms, slice_sum(e, slice, source_channels), slice);
#ifndef LOGARITHM
        kept[slice] = e;
#endif
    }
    float sum = total_of(terms);
#ifdef LOGARITHM
    float log_sum = log_precise(vec4(sum)).x;
    for (int slice = 0; slice < SLICES; slice++)
        store_destination(at.x, at.y, slice, at.z, kept[slice] - m - log_sum);
#else
    for (int slice = 0; slice < SLICES; slice++)
        store_destination(at.x, at.y, slice, at.z, kept[slice] / sum);
#endif
}
