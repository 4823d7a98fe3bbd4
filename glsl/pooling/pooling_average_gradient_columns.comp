// part(X, y) = sum over Y with y in window(Y) of G(X, Y) / Ny(Y), the first of two passes: N(X, Y)
// is Nx(X) Ny(Y), and a window that counts no pixel adds nothing
// needs lib/window.glsl
// needs pooling/average.glsl
void invocation(ivec2 at, int slice, int image) {
    int y = at.y + first_row + shift_y;
    ivec2 rows = windows_with(y, source_height, first_y, stride_y, 1, KERNEL_HEIGHT, begin_y,
                              end_y, false);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++) {
        float count = count_y(Y, source_height);
        if (count > 0.0)
            sum += gradient_clamp(at.x + begin_x, Y, slice, image) / count;
    }
    store_part(at.x, at.y, slice, image, sum);
}
