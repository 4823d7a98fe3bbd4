// out(X, k) = neuron(b(k) + sum over taps (q, p) and inputs c of W(k, q, p, c) * in(t, c)),
//     t = first + stride * X + dilation * (p, q);   in is 0 outside low .. high, or clamped
// Where results are few, as a fully connected layer's. A group of LANES invocations makes a slice of
// a pixel: each goes through every LANES-th vector of elements (one tap of one slice of inputs), and
// what they find comes together. The weights are read as the user has them, by vectors.
// needs convolution/convolution.glsl
// needs desktop/bias.glsl
// needs convolution/input.glsl
// needs lib/lanes.glsl
#define AT_ONCE 4 // vectors that are read at a time: one after the other each would be waited for

vec4 read_input(ivec2 corner, int vector, int image) {
    int tap = quotient(vector, source_slices);
    int row = quotient(tap, kernel_width);
    ivec2 t = corner + ivec2(dilation_x, dilation_y) * ivec2(tap - row * kernel_width, row);
    return input_at(t, vector - tap * source_slices, image);
}

// Columns are outputs, those beyond the last what the last is.
mat4 read_weights(int k, int vector, int vectors) {
    mat4 w;
    for (int i = 0; i < 4; i++)
        w[i] = weights[min(4 * k + i, destination_channels - 1) * vectors + vector];
    return w;
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), pixel = (at.x - lane) / LANES, k = at.y;
    int line = quotient(pixel, region_width), own_image = quotient(line, region_height);
    ivec3 X = ivec3(pixel - line * region_width, line - own_image * region_height, own_image);
    ivec2 corner = ivec2(first_x, first_y) + ivec2(stride_x, stride_y) * X.xy;
    int vectors = element_count / 4;
    vec4 sum = vec4(0.0);
    for (int begin = lane; begin < vectors; begin += AT_ONCE * LANES) {
        vec4 v[AT_ONCE];
        mat4 w[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++) {
            int vector = min(begin + i * LANES, vectors - 1);
            v[i] = read_input(corner, vector, X.z);
            w[i] = read_weights(k, vector, vectors);
        }
        for (int i = 0; i < AT_ONCE; i++)
            sum += begin + i * LANES < vectors ? v[i] * w[i] : vec4(0.0);
    }
    vec4 bias = bias_of(k), slope = neuron_slope(k);
    sum = sum_of_lanes(lane, sum);
    if (lane == 0)
        store_destination(region_x + step_x * X.x, region_y + step_y * X.y, k, X.z,
                          neuron(sum + bias, slope));
}
