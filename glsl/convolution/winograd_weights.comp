// U[point][input][k] = G g G^T, g the window of an input for outputs 4k .. 4k + 3
// An invocation owns an input and a slice of outputs.
// needs convolution/convolution.glsl
// needs convolution/winograd.glsl
vec4 weight(int k, int tap, int from) {
    int element = (tap * range + from / 4) * COMPONENTS + from % 4;
    vec4 value = vec4(0.0);
    for (int i = 0; i < 4; i++) {
        int index = 4 * k + i < output_count ? weight_index(4 * k + i, element) : -1;
        if (index >= 0)
            value[i] = weights[index];
    }
    return value;
}

void invocation(ivec3 at) {
    vec4 v[18], g[3], line[6];
    for (int x = 0; x < 3; x++) {
        for (int y = 0; y < 3; y++)
            g[y] = weight(at.y, 3 * y + x, at.x);
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
