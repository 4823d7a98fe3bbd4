// part(x, Y) = the taps of result row Y in source column x, reduced; the first of two ping-pong passes
// needs pooling/reduction.glsl
vec4 tap(int x, int y, int slice, int image) {
#ifdef AVERAGE // taps outside are left out, whatever the edge mode says
    return source_zero(x, y, slice, image);
#else
    vec4 v = source_edge(x, y, slice, image);
#ifdef L2_NORM
    v *= v;
#endif
    return v;
#endif
}

void invocation(ivec2 at, int slice, int image) {
    int x = at.x + first_column;
    int top = first_y + stride_y * (at.y + first_row);
    vec4 reduced = tap(x, top, slice, image);
    for (int q = 1; q < KERNEL_HEIGHT; q++)
        reduced = reduce(reduced, tap(x, top + dilation_y * q, slice, image));
    store_part(at.x, at.y, slice, image, reduced);
}
