// dX(y) = G(X) at the winning pixel of window X, 0 at its other pixels
// For windows side by side: one invocation owns one window X and all of its pixels, so that each is
// read once and written once.
// needs lib/compare.glsl
void invocation(ivec2 at, int slice, int image) {
    int left = first_x + KERNEL_WIDTH * at.x;
    int top = first_y + KERNEL_HEIGHT * at.y;
    vec4 best = source(left, top, slice, image);
    vec4 winner = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 value = source(left + p, top + q, slice, image);
            bvec4 better = wins(value, best);
            best = mix(best, value, better);
            winner = mix(winner, vec4(q * KERNEL_WIDTH + p), better);
        }
    vec4 g = gradient(at.x, at.y, slice, image);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++)
            store_destination(left + p, top + q, slice, image,
                              mix(vec4(0.0), g, equal(winner, vec4(q * KERNEL_WIDTH + p))));
}
