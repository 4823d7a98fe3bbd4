// Number i of an image, counted channels first, is in the other image number
//     sum(d_k * step_k),   d_k = rest / radix_k, then rest -= d_k * radix_k,   from the last k to the
// first, whose radix is 1; rest begins as i. With UNREAD there is none where some d_k >= size_k.
// Slices may have channels beyond the last: they stand for the last.
// Of four such sums Mali's older GPUs (T8xx: 16 registers) spill up to 18 values.
// needs slice/place_of.glsl
void take(inout int rest, inout int to, inout bool is_read, int size, int radix, int by) {
    int d = element_quotient(rest, radix);
    rest -= d * radix;
    to += d * by;
    is_read = is_read && d < size;
}

// -1: there is none.
int element_of(ivec3 at) {
    int c = min(at.x, destination_channels - 1);
    int rest = (c * destination_height + at.y) * destination_width + at.z;
    int to = 0;
    bool is_read = true;
#if DIGITS > 6
    take(rest, to, is_read, size_6, radix_6, step_6);
#endif
#if DIGITS > 5
    take(rest, to, is_read, size_5, radix_5, step_5);
#endif
#if DIGITS > 4
    take(rest, to, is_read, size_4, radix_4, step_4);
#endif
#if DIGITS > 3
    take(rest, to, is_read, size_3, radix_3, step_3);
#endif
#if DIGITS > 2
    take(rest, to, is_read, size_2, radix_2, step_2);
#endif
#if DIGITS > 1
    take(rest, to, is_read, size_1, radix_1, step_1);
#endif
    to += rest * step_0;
#ifdef UNREAD
    return is_read && rest < size_0 ? to : -1;
#else
    return to;
#endif
}

ivec3 place(ivec3 at) {
    int i = element_of(at);
#ifdef UNREAD
    if (i < 0)
        return ivec3(0, -1, -1);
#endif
    return place_of(i);
}
