// out(X) = (source(first + X) - mean[c]) / deviation[c];   PIXELS columns to an invocation
void invocation(ivec2 at, int slice, int image) {
    ivec4 c = min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), ivec4(source_channels - 1));
    vec4 m = vec4(mean[c.x], mean[c.y], mean[c.z], mean[c.w]);
    vec4 d = vec4(deviation[c.x], deviation[c.y], deviation[c.z], deviation[c.w]);
    for (int i = 0; i < PIXELS; i++) {
        int x = left + at.x + i * grid_x;
        vec4 value = (source_edge(first_x + x, first_y + at.y, slice, image) - m) / d;
        if (x < right)
            store_destination(x, at.y, slice, image, value);
    }
}
