// out(X) = largest tap of window X, as pooling_max.comp finds it, and which tap that is in "winners"
// needs lib/compare.glsl
// needs pooling/winners.glsl
#ifdef TILED
// A group makes RESULTS x RESULTS results of a slice and reads each tap of theirs once.
shared vec4 taps[TAPS_X * TAPS_Y];
#define LANES (RESULTS * RESULTS)

void read_taps(ivec2 corner, int lane, int slice, int image) {
    for (int i = lane; i < TAPS_X * TAPS_Y; i += LANES)
        taps[i] = source_edge(corner.x + i % TAPS_X, corner.y + i / TAPS_X, slice, image);
}
#define TAP(p, q) taps[(by.y * stride_y + dilation_y * q) * TAPS_X + by.x * stride_x + dilation_x * p]
#else
#define TAP(p, q) source_edge(first.x + dilation_x * p, first.y + dilation_y * q, slice, image)
#endif

// `by`: the result's place in the tile.
void make_result(ivec2 at, ivec2 by, int slice, int image) {
    ivec2 first = ivec2(first_x + stride_x * at.x, first_y + stride_y * at.y);
    vec4 best = TAP(0, 0), places = vec4(0.0), sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 value = TAP(p, q);
            bvec4 better = greaterThan(value, best);
            best = mix(best, value, better);
            places = mix(places, vec4(q * 8 + p), better);
            sum += value;
        }
    // Where a NaN is among them, or infinities of both signs, again with care, by a loop of which the
    // compiler does not know how long it is: unrolled it takes registers from the rest.
    if (is_nan(vec4(sum.x + sum.y + sum.z + sum.w)).x) {
        best = TAP(0, 0);
        places = vec4(0.0);
        for (int tap = 0; tap < tap_count; tap++) {
            int q = tap / KERNEL_WIDTH, p = tap - q * KERNEL_WIDTH;
            vec4 value = TAP(p, q);
            bvec4 better = wins(value, best);
            best = mix(best, value, better);
            places = mix(places, vec4(q * 8 + p), better);
        }
    }
    store_destination(at.x, at.y, slice, image, best);
    winners[winner_index(at.x, at.y, slice, image)] = winners_of(places, first.x, first.y);
}

#ifdef TILED
void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationID.x);
    int image = at.z / destination_slices;
    int slice = at.z - image * destination_slices;
    int column = (at.x - lane) / LANES * RESULTS;
    ivec2 tile = ivec2(first_column + column, first_row + at.y * RESULTS);
    ivec2 by = ivec2(lane % RESULTS, lane / RESULTS);
    read_taps(ivec2(first_x, first_y) + tile * ivec2(stride_x, stride_y), lane, slice, image);
    barrier();
    ivec2 to = tile + by;
    if (to.x < end_column && to.y < end_row)
        make_result(to, by, slice, image);
}
#else
void invocation(ivec2 at, int slice, int image) { make_result(at, ivec2(0), slice, image); }
#endif
