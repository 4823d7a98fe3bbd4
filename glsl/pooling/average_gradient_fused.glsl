// NAME made where it is read: the gradient of the average of the pixel's window, by the pixels of
// that; 0 where there is none (pooling/fused_windows.glsl)
vec4 NAME(int x, int y, int slice, int image) {
    ivec2 X, place;
    bool is_read = NAME_window(x, y, X, place);
    vec4 g = NAME_gradient(X.x, X.y, slice, image) / float(NAME_size_x * NAME_size_y);
    return NAME_stored(is_read ? g : vec4(0.0));
}
