// out(X) = source(u) / keep_probability where mask(u) is 1, else 0;   u = first + X, the pixel read
// PIXELS columns to an invocation.
// needs dropout/dropout.glsl
void invocation(ivec2 at, int slice, int image) {
    ivec3 size = ivec3(source_width, source_height, source_channels);
    int y = first_y + at.y;
    for (int i = 0; i < PIXELS; i++) {
        int X = left + at.x + i * grid_x;
        int x = first_x + X;
        ivec2 u = clamp(ivec2(x, y), ivec2(0), size.xy - 1);
        vec4 value = dropped(source_edge(x, y, slice, image), u.x, u.y, slice, image, size);
        if (X < right)
            store_destination(X, at.y, slice, image, value);
    }
}
