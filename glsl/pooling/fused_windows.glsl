// Windows of NAME_size_x by NAME_size_y pixels lie side by side, from NAME_left and NAME_top on, those
// of results NAME_begin_x .. NAME_end_x - 1. Whether a pixel is in one; then the result X of that, and
// the pixel's place in it. Of a pixel in none X is another.
bool NAME_window(int x, int y, out ivec2 X, out ivec2 place) {
    ivec2 from = ivec2(x - NAME_left, y - NAME_top), end = ivec2(NAME_end_x, NAME_end_y);
    ivec2 size = ivec2(NAME_size_x, NAME_size_y);
    ivec2 index = ivec2(uvec2(max(from, 0)) / uvec2(size)); // by shifts if it can
    place = from - index * size;
    X = ivec2(NAME_begin_x, NAME_begin_y) + index;
    bool is_read = from.x >= 0 && from.y >= 0 && X.x < end.x && X.y < end.y;
    X = min(X, end - 1);
    return is_read;
}
