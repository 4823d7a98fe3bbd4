// part(X, y) = sum over Y of taps(Y, y) * G(X, Y) / norm(X, Y), the first of two passes
// taps(Y, y) counts the taps of window row Y that read source row y.
// needs lib/window.glsl
// needs pooling/l2_norm_term.glsl
void invocation(ivec2 at, int slice, int image) {
    int y = at.y + first_row + shift_y;
    ivec2 rows = windows_with_y(y, source_height);
    vec4 sum = vec4(0.0);
    for (int Y = rows.x; Y <= rows.y; Y++)
        sum += l2_norm_term(float(taps_at_y(y, source_height, Y)), at.x + begin_x, Y, slice, image);
    store_part(at.x, at.y, slice, image, sum);
}
