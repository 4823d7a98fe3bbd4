// A result whose winners are kept: the largest tap of its window, as pooling_max.comp finds it, and
// which tap that is.
// needs lib/compare.glsl
// needs pooling/winners.glsl
void store_destination(int x, int y, int slice, int image, vec4 value); // stands behind

void keep_numbered(ivec2 X, int slice, int image, vec4 best, float numbers) {
    store_destination(X.x, X.y, slice, image, best);
    winners[winner_index(X.x, X.y, slice, image)] = numbers;
}

void keep_result(ivec2 X, int slice, int image, vec4 best, vec4 places) {
    keep_numbered(X, slice, image, best, winners_of(places, X));
}

// Where a NaN is among the taps, or infinities of both signs: by a loop of which the compiler does
// not know how long it is. Unrolled it takes registers from the rest.
void keep_result_with_care(ivec2 X, int slice, int image) {
    ivec2 first = ivec2(first_x, first_y) + ivec2(stride_x, stride_y) * X;
    vec4 best = source_edge(first.x, first.y, slice, image), places = vec4(0.0);
    for (int tap = 0; tap < tap_count; tap++) {
        int q = tap / KERNEL_WIDTH, p = tap - q * KERNEL_WIDTH;
        vec4 value = source_edge(first.x + dilation_x * p, first.y + dilation_y * q, slice, image);
        bvec4 better = wins(value, best);
        best = mix(best, value, better);
        places = mix(places, vec4(q * 8 + p), better);
    }
    keep_result(X, slice, image, best, places);
}
