// out(X) = gains (turned v) + noise(u), and 0 where u is cut out;   u = first + X
//   v = gain source(u) + offset,   turned v = mean + p (v - mean) + q (v.brg - v.gbr)
void invocation(ivec2 at, int slice, int image) {
    ivec2 u = at + ivec2(first_x, first_y);
    int a = image * 10;
    ivec2 from = ivec2(int(adjustment[a + 2]), int(adjustment[a + 3]));
    vec4 value = adjustment[a] * source_edge(u.x, u.y, slice, image) + adjustment[a + 1];
#ifdef TURNS_COLORS
    vec3 mean = vec3((value.r + value.g + value.b) / 3.0);
    value.rgb = mean + adjustment[a + 4] * (value.rgb - mean) +
                adjustment[a + 5] * (value.brg - value.gbr);
#endif
    value *= vec4(adjustment[a + 6], adjustment[a + 7], adjustment[a + 8], adjustment[a + 9]);
#ifdef NOISE
    ivec2 within = clamp(u, ivec2(0), ivec2(source_width, source_height) - 1);
    value += noise(within, slice, image);
#endif
    bool cut = all(greaterThanEqual(u, from)) && all(lessThan(u, from + cutout));
    store_destination(at.x, at.y, slice, image, cut ? vec4(0.0) : value);
}
