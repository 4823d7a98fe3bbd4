// What the forward pass left of the windows of a gradient: pooling/winners.glsl.
int winner_rows(int slice, int image) { // that lie before those of a slice
    return (image * gradient_slices + slice) * gradient_height;
}

int winners_at(int rows, ivec2 X) { return int(winners[(rows + X.y) * gradient_width + X.x]); }

// Whether the tap of this place won, in each channel.
bvec4 are_won_by(int kept, int place) {
    const ivec4 fields = ivec4(63) << ivec4(0, 6, 12, 18);
    return equal(ivec4(kept ^ place * 0x041041) & fields, ivec4(0));
}

// The places of the four channels' taps, and that of a tap.
ivec4 places_in(int kept) { return ivec4(kept) >> ivec4(0, 6, 12, 18) & ivec4(63); }
int place_of_tap(int p, int q) { return q * 8 + p; }
