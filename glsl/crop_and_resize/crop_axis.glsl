// Columns and rows of a region, of which x, y are the start and z, w the extent: result X of W' lies at
//     (W - 1) (start + extent X / (W' - 1))        where W' = 1:   (W - 1) (start + extent / 2)
// of the W source pixels, and is interpolated between the pixels below and above it. steps_x is W' - 1 and
// middle_x 0, or of one result 1 and 1/2. Both axes go together: older GPUs have registers of four.
// needs lib/compare.glsl
vec2 position_of(ivec2 at, vec4 region, ivec2 size) {
    vec2 share = (vec2(at) + vec2(middle_x, middle_y)) / vec2(steps_x, steps_y);
    return vec2(size - 1) * (region.xy + region.zw * share);
}

// A NaN stays one.
vec2 held_within(vec2 position, vec2 low, vec2 high) {
    return or_nan(clamp(position, low, high).xyxy, position.xyxy).xy;
}

// The shares of source pixel u in a result, along columns and along rows; of a NaN 0 or that.
vec2 shares_of(ivec2 u, ivec2 at, vec4 region, ivec2 size) {
    vec2 position = position_of(at, region, size);
#ifdef EDGE_CLAMP
    position = held_within(position, vec2(0.0), vec2(size - 1));
#endif
    return max(1.0 - abs(position - vec2(u)), 0.0);
}

// First and last column, and first and last row, of the results that may read source pixel u. All
// positions lie between those of the first and the last result; the slack is what rounding may move them
// by. All results where they are within a pixel, or not all finite.
ivec4 results_near(ivec2 u, vec4 region, ivec2 size) {
    vec2 last = vec2(resize_width - 1, resize_height - 1);
    vec2 from = position_of(ivec2(0), region, size), to = position_of(ivec2(last), region, size);
    vec2 slack = 0.01 + 1e-6 * max(abs(from), abs(to));
    vec2 low = vec2(u) - 1.0 - slack, high = vec2(u) + 1.0 + slack;
#ifdef EDGE_CLAMP
    low = mix(low, min(low, min(from, to)), equal(u, ivec2(0)));
    high = mix(high, max(high, max(from, to)), equal(u, size - 1));
#endif
    if (any(greaterThan(low, max(from, to))) || any(lessThan(high, min(from, to))))
        return ivec4(0, -1, 0, -1);
    vec2 pixels = to - from;
    bvec2 apart = lessThan(abs(abs(pixels) - 5e8), vec2(5e8 - 1.0)); // 1 to 1e9
    vec2 a = (low - from) * last / pixels, b = (high - from) * last / pixels;
    vec2 begin = mix(vec2(0.0), clamp(floor(min(a, b)) - 1.0, vec2(0.0), last), apart);
    vec2 end = mix(last, clamp(ceil(max(a, b)) + 1.0, vec2(0.0), last), apart);
    return ivec4(begin.x, end.x, begin.y, end.y);
}
