// dX(y) = G(X) at the winning pixel of window X, 0 at its other pixels
// For windows side by side: one invocation owns one window X and all of its pixels, so that each is
// read once and written once. With WINNERS the forward pass left which tap won.
// needs lib/compare.glsl
#ifdef WINNERS
#define NUMBER(p, q) place_of_tap(p, q)
ivec4 winner_of(ivec2 X, ivec2 first, int slice, int image) {
    return places_in(winners_at(winner_rows(slice, image), X));
}
#else
#define NUMBER(p, q) ((q) * KERNEL_WIDTH + (p))
ivec4 winner_of(ivec2 X, ivec2 first, int slice, int image) {
    vec4 best = source(first.x, first.y, slice, image);
    vec4 winner = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 value = source(first.x + p, first.y + q, slice, image);
            bvec4 better = wins(value, best);
            best = mix(best, value, better);
            winner = mix(winner, vec4(NUMBER(p, q)), better);
        }
    return ivec4(winner);
}
#endif

void invocation(ivec2 at, int slice, int image) {
    ivec2 first = ivec2(first_x, first_y) + ivec2(KERNEL_WIDTH, KERNEL_HEIGHT) * at;
    ivec4 winner = winner_of(at, first, slice, image);
    vec4 g = gradient(at.x, at.y, slice, image);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++)
            store_destination(first.x + p, first.y + q, slice, image,
                              mix(vec4(0.0), g, equal(winner, ivec4(NUMBER(p, q)))));
}
