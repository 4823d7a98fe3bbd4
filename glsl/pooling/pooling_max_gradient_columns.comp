// part(X, y) = sum of G(X, Y) over the windows Y whose argmax reads source row y, the first of two
// passes
// needs lib/window.glsl
void invocation(ivec2 at, int slice, int image) {
    int y = at.y + first_row + shift_y;
    ivec2 windows = windows_with_y(y, source_height);
    vec4 sum = vec4(0.0);
    for (int Y = windows.x; Y <= windows.y; Y++) {
        bvec4 mine = equal(argmax_row(at.x, Y - begin_y, slice, image), vec4(y));
        if (any(mine))
            sum += mix(vec4(0.0), gradient(at.x + begin_x, Y, slice, image), mine);
    }
    store_part(at.x, at.y, slice, image, sum);
}
