// Column X of the result is column U = X + base_x of the whole enlarged image, extent_x columns
// wide, and lies at source column
//     (scale_x * U + bias_x) / divisor_x
// kept inside the source, and the same in rows. Positions are fractions of whole numbers: nothing
// is lost to rounding.
ivec2 enlarged(ivec2 X) { return X + ivec2(base_x, base_y); }

bool is_enlarged(ivec2 U) {
    return is_within(U.x, U.y, extent_x, extent_y);
}

// Source position of U times the divisor.
ivec2 position(ivec2 U, ivec2 size) {
    U = clamp(U, ivec2(0), ivec2(extent_x, extent_y) - 1);
    ivec2 t = ivec2(scale_x, scale_y) * U + ivec2(bias_x, bias_y);
    return clamp(t, ivec2(0), (size - 1) * ivec2(divisor_x, divisor_y));
}

// Results X in [begin, end) with U in low .. high, of source pixel u of `size`. With clamping the
// border pixels also stand for everything outside.
ivec2 results_in(int low, int high, int u, int size, int base, int begin, int end) {
    low -= base;
    high -= base;
#ifdef EDGE_CLAMP
    low = u == 0 ? begin : low;
    high = u == size - 1 ? end - 1 : high;
#endif
    return ivec2(max(low, begin), min(high, end - 1));
}
