// dW(k, u, c) (+)= sum over images of G(k) * in(u, c);   db(k) (+)= sum over images of G(k)
// One invocation owns a slice of inputs at one pixel and a slice of outputs; in each row of
// invocations the last, at pixel_slices, stands for the biases of that slice of outputs.
// needs convolution/convolution_gradient.glsl
void invocation(ivec3 at) {
    bool is_bias = at.x == pixel_slices;
    int place = is_bias ? 0 : at.x;
    int pixel = place / source_slices;
    int slice = place - pixel * source_slices;
    int y = pixel / kernel_width;
    int x = pixel - y * kernel_width;
    vec4 s0 = vec4(0.0), s1 = vec4(0.0), s2 = vec4(0.0), s3 = vec4(0.0);
    for (int n = 0; n < source_images; n++) {
        vec4 g = gradient(begin_x, begin_y, at.y, n);
        vec4 v = source(x, y, slice, n);
        v = is_bias ? vec4(1.0) : v;
        s0 += g * v.x;
        s1 += g * v.y;
        s2 += g * v.z;
        s3 += g * v.w;
    }
    mat4 sum = mat4(s0, s1, s2, s3);
    int pixels = kernel_width * kernel_height;
    for (int i = 0; i < 4; i++) {
        int o = 4 * at.y + i;
        if (o >= output_count)
            return;
        if (is_bias)
            add_bias(o, s0[i]);
        for (int c = 0; c < 4 && !is_bias; c++)
            if (slice * 4 + c < source_channels)
                add_weight((o * pixels + pixel) * source_channels + slice * 4 + c, sum[c][i]);
    }
}
