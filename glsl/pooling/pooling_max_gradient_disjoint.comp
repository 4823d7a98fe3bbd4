// dX(y) = G(X) at the pixel that the largest tap of window X reads, 0 at its other pixels
// Of windows that do not overlap: an invocation owns one window X and all of its pixels, so that each is
// read once and written once. With INDICES the forward pass left which tap is largest.
// needs lib/compare.glsl
#ifdef INDICES
#define NUMBER(p, q) place_of_tap(p, q)
ivec4 argmax_of(ivec2 X, ivec2 first, int slice, int image) {
    return places_in(indices_at(index_rows(slice, image), X));
}
#else
#define NUMBER(p, q) ((q) * KERNEL_WIDTH + (p))
ivec4 argmax_of(ivec2 X, ivec2 first, int slice, int image) {
    vec4 best = source(first.x, first.y, slice, image);
    vec4 argmax = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 value = source(first.x + p, first.y + q, slice, image);
            bvec4 better = wins(value, best);
            best = mix(best, value, better);
            argmax = mix(argmax, vec4(NUMBER(p, q)), better);
        }
    return ivec4(argmax);
}
#endif

void invocation(ivec2 at, int slice, int image) {
    ivec2 first = ivec2(first_x, first_y) + ivec2(KERNEL_WIDTH, KERNEL_HEIGHT) * at;
    ivec4 argmax = argmax_of(at, first, slice, image);
    vec4 g = gradient(at.x, at.y, slice, image);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++)
            store_destination(first.x + p, first.y + q, slice, image,
                              mix(vec4(0.0), g, equal(argmax, ivec4(NUMBER(p, q)))));
}
