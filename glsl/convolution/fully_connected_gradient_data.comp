// dX(u, c) = sum over k of W(k, u, c) * G(k)
// One invocation owns a pixel and slice of IMAGES images; the taps of the layer are the pixels.
// needs convolution/convolution.glsl
vec4 weight(int element, int k) { return matrix(PACKED_X(element), PACKED_Y(element), 0, k); }

void invocation(ivec3 at) {
    int row = at.x / region_width;
    int rest = row / region_height;
    ivec2 to = ivec2(region_x + at.x - row * region_width, region_y + row - rest * region_height);
    int image = rest / destination_slices;
    int slice = rest - image * destination_slices;
    image *= IMAGES;
    int last = gradient_images - 1;
    ivec2 pixel = to + ivec2(shift_x, shift_y);
    bool inside = pixel.x >= 0 && pixel.y >= 0 && pixel.x < kernel_width && pixel.y < kernel_height;
    int tap = inside ? pixel.y * kernel_width + pixel.x : 0;
    int element = (tap * range + slice) * COMPONENTS;
    vec4 sum[IMAGES];
    for (int i = 0; i < IMAGES; i++)
        sum[i] = vec4(0.0);
    for (int k = 0; k < gradient_slices; k++) {
        vec4 w0 = weight(element, k);
#if COMPONENTS == 4
        vec4 w1 = weight(element + 1, k), w2 = weight(element + 2, k), w3 = weight(element + 3, k);
#endif
        for (int i = 0; i < IMAGES; i++) {
            vec4 g = gradient(begin_x, begin_y, k, min(image + i, last));
#if COMPONENTS == 4
            sum[i] += vec4(dot(w0, g), dot(w1, g), dot(w2, g), dot(w3, g));
#else
            sum[i].x += dot(w0, g);
#endif
        }
    }
    for (int i = 0; i < IMAGES; i++)
        if (image + i <= last)
            store_destination(to.x, to.y, slice, image + i, inside ? sum[i] : vec4(0.0));
}
