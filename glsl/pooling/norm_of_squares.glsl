// The root of `sum`, the squares of the taps of a window that begins at (left, top). Where float32
// cannot hold those, or not their digits, taps are multiplied by a power of two and added up once more,
// rows apart.
vec4 norm_of_squares(vec4 sum, int left, int top, int slice, int image) {
    bvec4 large = greaterThan(sum, vec4(1.0e36)), small = lessThan(sum, vec4(1.0e-24));
    if (!any(large) && !any(small))
        return sqrt(sum);
    vec4 scale = mix(vec4(1.0), vec4(1.1805916e21), small); // 2^70
    scale = mix(scale, vec4(8.4703295e-22), large);         // 2^-70
    vec4 again = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++) {
        vec4 row = vec4(0.0);
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 v = scale * source_edge(left + p, top + q, slice, image);
            row += v * v;
        }
        again += row;
    }
    return mix(sqrt(sum), sqrt(again) / scale, notEqual(scale, vec4(1.0)));
}
