// What the forward pass left of the windows of a gradient: pooling/winners.glsl.
// needs pooling/winner_fields.glsl
int winner_rows(int slice, int image) { // that lie before those of a slice
    return (image * gradient_slices + slice) * gradient_height;
}

int winners_at(int rows, ivec2 X) { return int(winners[(rows + X.y) * gradient_width + X.x]); }

// Whether the tap of this place won, in each channel.
bvec4 are_won_by(int kept, int place) {
    return equal(ivec4(kept ^ place * EACH_FIELD) & winner_fields, ivec4(0));
}
