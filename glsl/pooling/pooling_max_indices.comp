// out(X) = largest tap of window X, as pooling_max.comp finds it; indices(X) = the place of that tap,
// column + 8 * row, for each channel, and of the four one number in base 64, which a float holds. With
// CLAMPED it is the place of the pixel that the tap stands for, unless taps are ALL_INSIDE.
// MAKES_SOURCE: the source is made here, with few registers: each tap is compared with care at once,
// so that nothing makes pixels twice.
// needs lib/compare.glsl
float packed_places(vec4 places, ivec2 X) {
#if defined(CLAMPED) && !defined(ALL_INSIDE)
    int left = first_x + stride_x * X.x, top = first_y + stride_y * X.y;
    ivec4 columns = clamp((ivec4(places) & 7) + left, 0, source_width - 1) - left;
    ivec4 rows = clamp((ivec4(places) >> 3) + top, 0, source_height - 1) - top;
    places = vec4(rows * 8 + columns);
#endif
    return dot(places, vec4(1.0, 64.0, 4096.0, 262144.0));
}

void store_result(ivec2 X, int slice, int image, vec4 best, vec4 places) {
    int layer = image * destination_slices + slice;
    store_destination(X.x, X.y, slice, image, best);
    indices[(layer * destination_height + X.y) * destination_width + X.x] = packed_places(places, X);
}

// Where a NaN is among the taps, or infinities of both signs: by a loop of which the compiler does
// not know how long it is. Unrolled it takes registers from the rest.
void store_with_care(ivec2 X, ivec2 first, int slice, int image) {
    vec4 best = source_edge(first.x, first.y, slice, image), places = vec4(0.0);
    for (int tap = 0; tap < tap_count; tap++) {
        int q = tap / KERNEL_WIDTH, p = tap - q * KERNEL_WIDTH;
        vec4 value = source_edge(first.x + dilation_x * p, first.y + dilation_y * q, slice, image);
        bvec4 better = wins(value, best);
        best = mix(best, value, better);
        places = mix(places, vec4(q * 8 + p), better);
    }
    store_result(X, slice, image, best, places);
}

void invocation(ivec2 at, int slice, int image) {
    ivec2 first = ivec2(first_x, first_y) + ivec2(stride_x, stride_y) * at;
    vec4 best = source_edge(first.x, first.y, slice, image), places = vec4(0.0), sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 value = source_edge(first.x + dilation_x * p, first.y + dilation_y * q, slice, image);
#ifdef MAKES_SOURCE
            bvec4 better = wins(value, best);
#else
            bvec4 better = greaterThan(value, best);
            sum += value;
#endif
            best = mix(best, value, better);
            places = mix(places, vec4(q * 8 + p), better);
        }
    if (may_have_nan(sum))
        store_with_care(at, first, slice, image);
    else
        store_result(at, slice, image, best, places);
}
