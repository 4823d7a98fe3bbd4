// out(X) = gain source(u) + offset + noise(u), and 0 where u is cut out;   u = first + X
void invocation(ivec2 at, int slice, int image) {
    ivec2 u = at + ivec2(first_x, first_y);
    int a = image * 4;
    ivec2 from = ivec2(int(adjustment[a + 2]), int(adjustment[a + 3]));
    vec4 value = adjustment[a] * source_edge(u.x, u.y, slice, image) + adjustment[a + 1];
#ifdef NOISE
    ivec2 within = clamp(u, ivec2(0), ivec2(source_width, source_height) - 1);
    value += noise(within, slice, image);
#endif
    bool cut = all(greaterThanEqual(u, from)) && all(lessThan(u, from + cutout));
    store_destination(at.x, at.y, slice, image, cut ? vec4(0.0) : value);
}
