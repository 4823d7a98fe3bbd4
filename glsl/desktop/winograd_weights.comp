// U[point][input][k] = G g G^T, g the window of an input for outputs 4k .. 4k + 3
// An invocation owns an input and a slice of outputs.
// needs convolution/convolution.glsl
// needs desktop/winograd.glsl
vec4 weight(int k, int q, int p, int from) {
    vec4 value;
    for (int i = 0; i < 4; i++) {
        int o = min(4 * k + i, output_count - 1), c = min(from, inputs_per_group - 1);
        float w = weights[dense_weight_index(o, q, p, c)];
        value[i] = o == 4 * k + i && c == from ? w : 0.0;
    }
    return value;
}

void invocation(ivec3 at) {
    vec4 v[18], g[3], line[6];
    for (int x = 0; x < 3; x++) {
        for (int y = 0; y < 3; y++)
            g[y] = weight(at.y, y, x, at.x);
        to_points_of_weights(g, line);
        for (int y = 0; y < 6; y++)
            v[3 * y + x] = line[y];
    }
    for (int y = 0; y < 6; y++) {
        for (int x = 0; x < 3; x++)
            g[x] = v[3 * y + x];
        to_points_of_weights(g, line);
        for (int x = 0; x < 6; x++)
            points[((6 * y + x) * input_count + at.x) * slice_total + at.y] = line[x];
    }
}
