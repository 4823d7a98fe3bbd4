// out(X) = r kept within minimum .. maximum
//     x = primary_scale * primary,   y = secondary_scale * secondary
//     add  r = x + y + bias     subtract  r = x - y + bias
//     multiply  r = x * y + bias     divide  r = x / y + bias
//     maximum  r = max(x, y) + bias     minimum  r = min(x, y) + bias     power  r = x^y + bias
// A NaN stays one, and is within no bounds.
// For the gradient: which r are within (CLAMP_MASK), and with KEPT the quotient or the base of a power,
// or with SHARES x's share in a maximum or minimum, half of equals: of four channels one number.
// PIXELS columns to an invocation.
// needs lib/channels.glsl
// needs lib/compare.glsl
// needs arithmetic/result_index.glsl
vec4 combined(vec4 x, vec4 y) {
#if OPERATION == 0
    return x + y;
#elif OPERATION == 1
    return x - y;
#elif OPERATION == 2
    return x * y;
#elif OPERATION == 3
    return x / y;
#elif OPERATION == 4
    return or_nan(or_nan(max(x, y), x), y);
#elif OPERATION == 5
    return or_nan(or_nan(min(x, y), x), y);
#else
    return pow_precise(x, y);
#endif
}

vec4 kept_of(vec4 x, vec4 y) { return OPERATION == 6 ? x : combined(x, y); }

// In halves.
vec4 share_of(vec4 x, vec4 y) {
    vec4 more = vec4(greaterThan(x, y)) - vec4(lessThan(x, y));
    return OPERATION == 4 ? 1.0 + more : 1.0 - more;
}

void keep_for_gradient(int X, int Y, int slice, int image, vec4 x, vec4 y, vec4 r) {
#if defined(CLAMP_MASK) || defined(KEPT) || defined(SHARES)
    int index = result_index(X, Y, slice, image,
                             ivec3(destination_width, destination_height, destination_slices));
#endif
#ifdef CLAMP_MASK
    vec4 within = vec4(greaterThanEqual(r, vec4(minimum))) * vec4(lessThanEqual(r, vec4(maximum)));
    within *= vec4(is_channel(slice, destination_channels)) * vec4(not(is_nan(r)));
    clamp_mask[index] = dot(within, vec4(1.0, 2.0, 4.0, 8.0));
#endif
#ifdef KEPT
    kept[index] = mix(vec4(0.0), kept_of(x, y), is_channel(slice, destination_channels));
#endif
#ifdef SHARES
    vec4 share = mix(vec4(0.0), share_of(x, y), is_channel(slice, destination_channels));
    shares[index] = dot(share, vec4(1.0, 4.0, 16.0, 64.0));
#endif
}

void store_result(int X, int Y, int slice, int image, vec4 x, vec4 y) {
    vec4 r = combined(x, y) + bias;
    if (X >= right)
        return;
    keep_for_gradient(X, Y, slice, image, x, y, r);
    store_destination(X, Y, slice, image, held(r, minimum, maximum));
}

#define COLUMN(i)    (left + at.x + i * grid_x)
#define PRIMARY(i)   primary_scale * primary_operand(COLUMN(i), at.y, slice, image)
#define SECONDARY(i) secondary_scale * secondary_operand(COLUMN(i), at.y, slice, image)

void invocation(ivec2 at, int slice, int image) {
    for (int i = 0; i < PIXELS; i++)
        store_result(COLUMN(i), at.y, slice, image, PRIMARY(i), SECONDARY(i));
}
