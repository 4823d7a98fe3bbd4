// V(point, t, s) = (B^T d B)[point], d the 4x4 inputs that tile t, 2x2 pixels of the result, is summed from
//     B^T = 1 0 -1 0,  0 1 1 0,  0 -1 1 0,  0 1 0 -1
// Points lie 4x4 beside each other in an image, each of tiles_x * tiles_y tiles. An invocation makes row
// `at.z % 4` of them.
// needs lib/divide.glsl
// needs convolution/input.glsl
vec4 column(ivec2 corner, int r, int slice, int image) {
    vec4 a = input_at(corner + ivec2(0, r == 0 ? 0 : r == 2 ? 2 : 1), slice, image);
    vec4 b = input_at(corner + ivec2(0, r == 3 ? 3 : r == 2 ? 1 : 2), slice, image);
    return r == 1 ? a + b : a - b;
}

void invocation(ivec3 at) {
    int slice = at.z >> 2, r = at.z & 3;
    int n = whole_quotient(at.y, tiles_y), image = first_image + n;
    int x = at.x, y = at.y - n * tiles_y, to = y + r * tiles_y;
    ivec2 corner = ivec2(first_x, first_y) + 2 * ivec2(x, y);
    vec4 c0 = column(corner, r, slice, image);
    vec4 c2 = column(corner + ivec2(2, 0), r, slice, image);
    store_points(x, to, slice, n, c0 - c2);
    vec4 c1 = column(corner + ivec2(1, 0), r, slice, image);
    store_points(x + tiles_x, to, slice, n, c1 + c2);
    store_points(x + 2 * tiles_x, to, slice, n, c2 - c1);
    vec4 c3 = column(corner + ivec2(3, 0), r, slice, image);
    store_points(x + 3 * tiles_x, to, slice, n, c1 - c3);
}
