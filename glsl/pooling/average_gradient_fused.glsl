// NAME, fused into its readers: the gradient of the average of the pixel's window, by the pixels of
// that, NAME_size_x and NAME_size_y along the axes; 0 where there is none. Windows lie side by side,
// from NAME_left and NAME_top on, those of results NAME_begin_x .. NAME_end_x - 1.
vec4 NAME(int x, int y, int slice, int image) {
    ivec2 from = ivec2(x - NAME_left, y - NAME_top), end = ivec2(NAME_end_x, NAME_end_y);
    ivec2 index = ivec2(uvec2(max(from, 0)) / uvec2(NAME_size_x, NAME_size_y)); // by shifts if it can
    ivec2 X = ivec2(NAME_begin_x, NAME_begin_y) + index;
    bool is_read = from.x >= 0 && from.y >= 0 && X.x < end.x && X.y < end.y;
    X = min(X, end - 1);
    vec4 g = NAME_gradient(X.x, X.y, slice, image) / float(NAME_size_x * NAME_size_y);
    return NAME_stored(is_read ? g : vec4(0.0));
}
