// Winograd's minimal filtering F(4x4, 3x3) (Lavin and Gray 2015): with d a tile of 6x6 inputs, g a
// window of 3x3 weights and y the tile of 4x4 results that they make,
//     y = A^T ((G g G^T) * (B^T d B)) A,   * element by element: 36 products for 144
// The polynomial points are 0, +-3/4, +-5/4 and infinity: every constant of B and A is a float, and
// rounding errors are half of those with the usual points 0, +-1, +-2.
// The transforms below go along one axis; both axes take them in turn.
#define POINTS 36
const float P1 = 0.75, P2 = 1.25, P1_SQUARED = P1 * P1, P2_SQUARED = P2 * P2;

// B^T d
void to_points_of_inputs(inout vec4 v[6]) {
    const float all = P1_SQUARED * P2_SQUARED, both = P1_SQUARED + P2_SQUARED;
    vec4 first = all * v[0] - both * v[2] + v[4];
    vec4 even1 = v[4] - P2_SQUARED * v[2], odd1 = P1 * (v[3] - P2_SQUARED * v[1]);
    vec4 even2 = v[4] - P1_SQUARED * v[2], odd2 = P2 * (v[3] - P1_SQUARED * v[1]);
    v[5] = all * v[1] - both * v[3] + v[5];
    v[0] = first;
    v[1] = even1 + odd1;
    v[2] = even1 - odd1;
    v[3] = even2 + odd2;
    v[4] = even2 - odd2;
}

// G g
void to_points_of_weights(vec4 g[3], out vec4 v[6]) {
    const float first = 1.0 / (P1_SQUARED * P2_SQUARED);
    const float scale1 = 0.5 / (P1_SQUARED * (P1_SQUARED - P2_SQUARED));
    const float scale2 = 0.5 / (P2_SQUARED * (P2_SQUARED - P1_SQUARED));
    vec4 even1 = g[0] + P1_SQUARED * g[2], odd1 = P1 * g[1];
    vec4 even2 = g[0] + P2_SQUARED * g[2], odd2 = P2 * g[1];
    v[0] = first * g[0];
    v[1] = scale1 * (even1 + odd1);
    v[2] = scale1 * (even1 - odd1);
    v[3] = scale2 * (even2 + odd2);
    v[4] = scale2 * (even2 - odd2);
    v[5] = g[2];
}

// A^T v
void from_points_of_results(vec4 v[6], out vec4 y[4]) {
    vec4 sum1 = v[1] + v[2], difference1 = P1 * (v[1] - v[2]);
    vec4 sum2 = v[3] + v[4], difference2 = P2 * (v[3] - v[4]);
    y[0] = v[0] + sum1 + sum2;
    y[1] = difference1 + difference2;
    y[2] = P1_SQUARED * sum1 + P2_SQUARED * sum2;
    y[3] = P1_SQUARED * difference1 + P2_SQUARED * difference2 + v[5];
}

// Number x of that
vec4 result_of_points(vec4 v[6], int x) {
    float sign = (x & 1) == 0 ? 1.0 : -1.0;
    vec2 power = (x & 1) == 0 ? vec2(1.0) : vec2(P1, P2);
    power *= x < 2 ? vec2(1.0) : vec2(P1_SQUARED, P2_SQUARED);
    vec4 sum = power.x * (v[1] + sign * v[2]) + power.y * (v[3] + sign * v[4]);
    return sum + (x == 0 ? v[0] : x == 3 ? v[5] : vec4(0.0));
}

// A y, the transpose: what a gradient of results is at the points
void to_points_of_gradients(vec4 y[4], out vec4 v[6]) {
    vec4 even1 = y[0] + P1_SQUARED * y[2], odd1 = P1 * (y[1] + P1_SQUARED * y[3]);
    vec4 even2 = y[0] + P2_SQUARED * y[2], odd2 = P2 * (y[1] + P2_SQUARED * y[3]);
    v[0] = y[0];
    v[1] = even1 + odd1;
    v[2] = even1 - odd1;
    v[3] = even2 + odd2;
    v[4] = even2 - odd2;
    v[5] = y[3];
}

// G^T v, the transpose: the gradient of weights
void from_points_of_weights(vec4 v[6], out vec4 g[3]) {
    const float first = 1.0 / (P1_SQUARED * P2_SQUARED);
    const float scale1 = 0.5 / (P1_SQUARED * (P1_SQUARED - P2_SQUARED));
    const float scale2 = 0.5 / (P2_SQUARED * (P2_SQUARED - P1_SQUARED));
    vec4 sum1 = scale1 * (v[1] + v[2]), difference1 = scale1 * P1 * (v[1] - v[2]);
    vec4 sum2 = scale2 * (v[3] + v[4]), difference2 = scale2 * P2 * (v[3] - v[4]);
    g[0] = first * v[0] + sum1 + sum2;
    g[1] = difference1 + difference2;
    g[2] = P1_SQUARED * sum1 + P2_SQUARED * sum2 + v[5];
}
