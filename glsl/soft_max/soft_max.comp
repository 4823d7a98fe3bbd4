// soft-max        y(k) = exp(x(k) - m) / sum_i exp(x(i) - m),    m = max_i x(i)
// log-soft-max    y(k) = x(k) - m - log(sum_i exp(x(i) - m))     with LOGARITHM
// One invocation owns one pixel with all its channels.
// needs lib/channels.glsl
// needs lib/math.glsl
// needs soft_max/exponential.glsl
void invocation(ivec3 at) {
    int x = first_x + at.x;
    int y = first_y + at.y;
    float m = source_edge(x, y, 0, at.z).x;
    for (int slice = 0; slice < source_slices; slice++)
        m = max(m, slice_max(source_edge(x, y, slice, at.z), slice, source_channels));
    long_sum terms = long_sum(0.0, 0.0);
    for (int slice = 0; slice < source_slices; slice++) {
        vec4 e = exponential(source_edge(x, y, slice, at.z) - m);
        add_slice(terms, slice_sum(e, slice, source_channels), slice);
    }
    float sum = total_of(terms);
#ifdef LOGARITHM
    float log_sum = log_precise(vec4(sum)).x;
    for (int slice = 0; slice < source_slices; slice++)
        store_destination(at.x, at.y, slice, at.z, source_edge(x, y, slice, at.z) - m - log_sum);
#else
    for (int slice = 0; slice < source_slices; slice++) {
        vec4 e = exponential(source_edge(x, y, slice, at.z) - m);
        store_destination(at.x, at.y, slice, at.z, e / sum);
    }
#endif
}
