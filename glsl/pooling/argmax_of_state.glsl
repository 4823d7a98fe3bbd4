// The argmax indices that the forward pass left of the windows of a gradient.
// needs pooling/argmax_fields.glsl
int index_rows(int slice, int image) { // that lie before those of a slice
    return (image * gradient_slices + slice) * gradient_height;
}

int indices_at(int rows, ivec2 X) { return int(indices[(rows + X.y) * gradient_width + X.x]); }

// Whether the tap at this place was largest, in each channel.
bvec4 is_argmax(int code, int place) {
    return equal(ivec4(code ^ place * EACH_FIELD) & fields, ivec4(0));
}
