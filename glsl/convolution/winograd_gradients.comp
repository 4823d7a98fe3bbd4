// W(point, t, k) = (A Y A^T)[point], Y the 2x2 gradients of tile t
//     A = 1 0,  1 1,  1 -1,  0 -1
// Points lie as those of convolution/winograd_inputs.comp.
// needs lib/divide.glsl
vec4 gradient_or_zero(ivec2 X, int k, int image) {
    vec4 value = gradient(min(X.x, end_x - 1), min(X.y, end_y - 1), k, image);
    return X.x < end_x && X.y < end_y ? value : vec4(0.0);
}

// Stores a row of points, which the left and the right of a tile make.
void store_row(int x, int to, int k, int n, vec4 left, vec4 right) {
    store_points(x, to, k, n, left);
    store_points(x + tiles_x, to, k, n, left + right);
    store_points(x + 2 * tiles_x, to, k, n, left - right);
    store_points(x + 3 * tiles_x, to, k, n, -right);
}

void invocation(ivec3 at) {
    int n = whole_quotient(at.y, tiles_y), k = at.z, image = first_image + n;
    int x = at.x, y = at.y - n * tiles_y;
    ivec2 X = ivec2(begin_x, begin_y) + 2 * ivec2(x, y);
    vec4 left = gradient_or_zero(X, k, image);
    vec4 right = gradient_or_zero(X + ivec2(1, 0), k, image);
    store_row(x, y, k, n, left, right);
    vec4 below = gradient_or_zero(X + ivec2(0, 1), k, image);
    vec4 last = gradient_or_zero(X + ivec2(1, 1), k, image);
    store_row(x, y + tiles_y, k, n, left + below, right + last);
    store_row(x, y + 2 * tiles_y, k, n, left - below, right - last);
    store_row(x, y + 3 * tiles_y, k, n, -below, -last);
}
