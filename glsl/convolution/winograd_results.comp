// out = neuron(A^T M A), M(point, t, k) the sums of tile t, 2x2 pixels, at the points
//     A^T = 1 1 1 0,  0 1 -1 -1
// needs lib/divide.glsl
vec4 top[2], bottom[2]; // of the tile's columns

// A column of points, from (x, y) on, to the upper pixels and to the lower ones.
void add_column(int x, int y, int k, int n, float left, float right) {
    vec4 m1 = sums(x, y + tiles_y, k, n), m2 = sums(x, y + 2 * tiles_y, k, n);
    vec4 above = sums(x, y, k, n) + (m1 + m2), below = m1 - m2 - sums(x, y + 3 * tiles_y, k, n);
    top[0] += left * above;
    top[1] += right * above;
    bottom[0] += left * below;
    bottom[1] += right * below;
}

void store(ivec2 X, int k, int image, vec4 value, vec4 slope) {
    if (X.x < region_width && X.y < region_height)
        store_destination(region_x + X.x, region_y + X.y, k, image, neuron(value, slope));
}

void invocation(ivec3 at) {
    int n = whole_quotient(at.y, tiles_y), k = at.z, image = first_image + n;
    int x = at.x, y = at.y - n * tiles_y;
    ivec2 X = 2 * ivec2(x, y);
    top[0] = top[1] = bottom[0] = bottom[1] = vec4(0.0);
    // Compilers do not know that it is 4: a column's reads are in flight at a time, not all sixteen, which spill.
    int columns = min(4, 4 * tiles_x);
    for (int c = 0; c < columns; c++)
        add_column(x + c * tiles_x, y, k, n, c < 3 ? 1.0 : 0.0, c == 0 ? 0.0 : c == 1 ? 1.0 : -1.0);
    vec4 slope = neuron_slope(k);
    for (int i = 0; i < 2; i++) {
        store(X + ivec2(i, 0), k, image, top[i], slope);
        store(X + ivec2(i, 1), k, image, bottom[i], slope);
    }
}
