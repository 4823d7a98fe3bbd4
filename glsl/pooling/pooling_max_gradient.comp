// dX(y) = sum over X whose winning tap reads pixel y of G(X)
// The winner is the first largest tap, row by row, and is searched anew in source. An outside zero
// that wins passes nothing on. A gather: one invocation owns one source pixel.
// needs lib/compare.glsl
// needs lib/window.glsl
vec4 share(ivec2 pixel, int X, int Y, int slice, int image) {
    int left = first_x + stride_x * X;
    int top = first_y + stride_y * Y;
    vec4 best = source_edge(left, top, slice, image);
    vec4 mine = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            ivec2 t = ivec2(left + dilation_x * p, top + dilation_y * q);
            vec4 value = source_edge(t.x, t.y, slice, image);
#ifdef EDGE_CLAMP
            t = clamp(t, ivec2(0), ivec2(source_width, source_height) - 1);
#endif
            bvec4 better = wins(value, best);
            if (p == 0 && q == 0)
                better = bvec4(true);
            best = mix(best, value, better);
            mine = mix(mine, vec4(t == pixel ? 1.0 : 0.0), better);
        }
    return mine;
}

void invocation(ivec2 at, int slice, int image) {
    ivec2 pixel = at + ivec2(shift_x, shift_y);
    ivec2 columns = windows_with_x(pixel.x, source_width);
    ivec2 rows = windows_with_y(pixel.y, source_height);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++)
        for (int X = columns.x; X <= columns.y; X++) {
            bvec4 mine = greaterThan(share(pixel, X, Y, slice, image), vec4(0.5));
            sum += mix(vec4(0.0), gradient(X, Y, slice, image), mine);
        }
    bool inside = pixel.x >= 0 && pixel.y >= 0 && pixel.x < source_width && pixel.y < source_height;
    store_destination(at.x, at.y, slice, image, inside ? sum : vec4(0.0));
}
