// dX(u, c) = sum over k of W(k, u, c) * G(k)
// One invocation owns a pixel and slice of IMAGES images; the taps of the layer are the pixels. It
// reads SLICES slices of outputs at once.
// STRETCH: of long sums so many slices of outputs are added up by themselves, as in
// convolution/convolution.comp.
// needs convolution/convolution.glsl
vec4 weight(int element, int k) { return matrix(PACKED_X(element), PACKED_Y(element), 0, k); }

vec4 w[SLICES * COMPONENTS];

void add_to(inout vec4 sum, int j, vec4 g) {
#if COMPONENTS == 4
    sum += vec4(dot(w[j * 4], g), dot(w[j * 4 + 1], g), dot(w[j * 4 + 2], g), dot(w[j * 4 + 3], g));
#else
    sum.x += dot(w[j], g);
#endif
}

void invocation(ivec3 at) {
    int row = quotient(at.x, region_width);
    int rest = quotient(row, region_height);
    ivec2 to = ivec2(region_x + at.x - row * region_width, region_y + row - rest * region_height);
    int image = quotient(rest, destination_slices);
    int slice = rest - image * destination_slices;
    image *= IMAGES;
    int last = gradient_images - 1;
    ivec2 pixel = to + ivec2(shift_x, shift_y);
    bool inside = is_within(pixel.x, pixel.y, kernel_width, kernel_height);
    int tap = inside ? pixel.y * kernel_width + pixel.x : 0;
    int element = (tap * range + slice) * COMPONENTS;
    vec4 sum[IMAGES];
    for (int i = 0; i < IMAGES; i++)
        sum[i] = vec4(0.0);
#ifdef STRETCH
    vec4 stretches[IMAGES];
    int next = STRETCH; // the end of the stretch
    for (int i = 0; i < IMAGES; i++)
        stretches[i] = vec4(0.0);
#endif
    for (int k = 0; k < gradient_slices; k += SLICES) {
        vec4 g[SLICES * IMAGES];
        for (int j = 0; j < SLICES; j++) {
            int from = min(k + j, gradient_slices - 1);
            for (int c = 0; c < COMPONENTS; c++)
                w[j * COMPONENTS + c] = weight(element + c, from);
            for (int i = 0; i < IMAGES; i++)
                g[j * IMAGES + i] = gradient(begin_x, begin_y, from, min(image + i, last));
            for (int i = 0; i < IMAGES && SLICES > 1; i++)
                g[j * IMAGES + i] = k + j == from ? g[j * IMAGES + i] : vec4(0.0);
        }
        for (int j = 0; j < SLICES; j++)
            for (int i = 0; i < IMAGES; i++)
                add_to(sum[i], j, g[j * IMAGES + i]);
#ifdef STRETCH
        if (k + SLICES >= next) {
            for (int i = 0; i < IMAGES; i++) {
                stretches[i] += sum[i];
                sum[i] = vec4(0.0);
            }
            next += STRETCH;
        }
#endif
    }
#ifdef STRETCH
    for (int i = 0; i < IMAGES; i++)
        sum[i] += stretches[i];
#endif
    for (int i = 0; i < IMAGES; i++)
        if (image + i <= last)
            store_destination(to.x, to.y, slice, image + i, inside ? sum[i] : vec4(0.0));
}
