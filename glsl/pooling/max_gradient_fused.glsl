// NAME made where it is read: the gradient of the maximum of the pixel's window if its largest tap
// reads the pixel, else 0, as where there is no window (pooling/fused_windows.glsl). The forward pass
// left in NAME_indices which tap that is, layer by layer of NAME_gradient; the first that is read is
// NAME_first_layer.
// needs pooling/argmax_fields.glsl
vec4 NAME(int x, int y, int slice, int image) {
    ivec2 X, place;
    bool is_read = NAME_window(x, y, X, place);
    int layer = NAME_first_layer + image * NAME_layer_stride + slice;
    int code = int(NAME_indices[(layer * NAME_gradient_height + X.y) * NAME_gradient_width + X.x]);
    ivec4 others = ivec4(code ^ place_of_tap(place.x, place.y) * EACH_FIELD) & fields;
    bvec4 mine = equal(is_read ? others : ivec4(-1), ivec4(0));
    return NAME_stored(mix(vec4(0.0), NAME_gradient(X.x, X.y, slice, image), mine));
}
