// dW(k, u, c) (+)= sum over images of G(k) * in(u, c);   db(k) (+)= sum over images of G(k)
// One invocation owns a slice of inputs at one pixel and a slice of outputs; in each row of
// invocations the last, at pixel_slices, stands for the biases of that slice of outputs. Behind
// every STRETCH images the partial sum is added to the stored gradient, which keeps float32's rounding
// of many equal terms within the bound of glcnn/image.h.
// needs convolution/convolution_gradient.glsl
#define STRETCH 512 // a multiple of IMAGES

float before_weight(int index, int first) {
#ifdef ACCUMULATE
    return 0.0; // add_weight adds it
#else
    return first > 0 ? gradient_for_weights[index] : 0.0;
#endif
}

float before_bias(int index, int first) {
#ifdef ACCUMULATE
    return 0.0;
#else
    return first > 0 ? gradient_for_biases[index] : 0.0;
#endif
}

mat4 sum_of_images(int first, int x, int y, int slice, int k, bool is_bias) {
    vec4 s0 = vec4(0.0), s1 = vec4(0.0), s2 = vec4(0.0), s3 = vec4(0.0);
    int end = min(first + STRETCH, source_images);
    for (int n = first; n < end; n += IMAGES) {
        vec4 g[IMAGES], v[IMAGES];
        for (int i = 0; i < IMAGES; i++) {
            int image = min(n + i, source_images - 1);
            g[i] = gradient(begin_x, begin_y, k, image);
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
    return mat4(s0, s1, s2, s3);
}

void invocation(ivec3 at) {
    bool is_bias = at.x == pixel_slices;
    int place = is_bias ? 0 : at.x;
    int pixel = quotient(place, source_slices);
    int slice = place - pixel * source_slices;
    int y = quotient(pixel, kernel_width);
    int x = pixel - y * kernel_width;
    int pixels = kernel_width * kernel_height;
    for (int first = 0; first < source_images; first += STRETCH) {
        mat4 sum = sum_of_images(first, x, y, slice, at.y, is_bias);
        for (int i = 0; i < 4 && 4 * at.y + i < output_count; i++) {
            int o = 4 * at.y + i, index = (o * pixels + pixel) * source_channels + slice * 4;
            if (is_bias)
                add_bias(o, sum[0][i] + before_bias(o, first));
            for (int c = 0; c < 4 && !is_bias; c++)
                if (slice * 4 + c < source_channels)
                    add_weight(index + c, sum[c][i] + before_weight(index + c, first));
        }
    }
}
