// dW(k, u, c) (+)= sum over images of G(k) * in(u, c);   db(k) (+)= sum over images of G(k)
// One invocation owns a slice of inputs at one pixel and a slice of outputs; in each row of
// invocations the last, at pixel_slices, stands for the biases of that slice of outputs.
// needs convolution/convolution_gradient.glsl
void invocation(ivec3 at) {
    bool is_bias = at.x == pixel_slices;
    int place = is_bias ? 0 : at.x;
    int pixel = quotient(place, source_slices);
    int slice = place - pixel * source_slices;
    int y = quotient(pixel, kernel_width);
    int x = pixel - y * kernel_width;
    vec4 s0 = vec4(0.0), s1 = vec4(0.0), s2 = vec4(0.0), s3 = vec4(0.0);
    for (int n = 0; n < source_images; n += IMAGES) {
        vec4 g[IMAGES], v[IMAGES];
        for (int i = 0; i < IMAGES; i++) {
            int image = min(n + i, source_images - 1);
            g[i] = gradient(begin_x, begin_y, at.y, image);
            v[i] = source(x, y, slice, image);
        }
        for (int i = 0; i < IMAGES; i++) {
            vec4 live = n + i < source_images ? g[i] : vec4(0.0);
            vec4 value = is_bias ? vec4(1.0) : v[i];
            s0 += live * value.x;
            s1 += live * value.y;
            s2 += live * value.z;
            s3 += live * value.w;
        }
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
