// Sums over the LANES invocations of a work group, in pairs: the order is fixed.
shared vec4 kept_by_lanes[LANES];

// For all lanes at a time; right in the first.
vec4 sum_of_lanes(int lane, vec4 value) {
    barrier(); // the sum before this one has been read
    kept_by_lanes[lane] = value;
    barrier();
    for (int apart = LANES / 2; apart > 0; apart /= 2) {
        if (lane < apart)
            kept_by_lanes[lane] += kept_by_lanes[lane + apart];
        barrier();
    }
    return kept_by_lanes[0];
}
