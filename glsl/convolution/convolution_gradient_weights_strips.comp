// dW(k, q, p) = sum over images and X of G(X, k) * in(first + X + (p, q), c);   db(k) = sum of G(X, k)
// As convolution/convolution_gradient_weights_group.comp, for small windows of stride and dilation 1:
// each invocation goes down strips of the gradient, of two columns and strip_rows rows. Each row of
// the source that it reads meets the gradients of the last rows.
// needs convolution/convolution.glsl
// needs convolution/input.glsl
// needs lib/lanes.glsl
#define TAPS (KERNEL_WIDTH * KERNEL_HEIGHT)

vec4 bias, sum[TAPS];

void keep(int chunk, int k, int element, vec4 value) {
    parts[(chunk * slice_total + k) * (element_count + 1) + element] = value;
}

// First pixel and image of a strip; those of all images are numbered through.
ivec3 place_of_strip(int strip) {
    int row = strip / pairs;
    int image = row / strips_down;
    return ivec3(begin_x + 2 * (strip - row * pairs),
                 begin_y + (row - image * strips_down) * strip_rows, image);
}

// g0[q] and g1[q] are of the pixels q rows above.
void add_strip(ivec3 X, int k, int slice) {
    int rows = min(strip_rows, end_y - X.y), next = min(X.x + 1, end_x - 1);
    bool both = X.x + 1 < end_x;
    vec4 g0[KERNEL_HEIGHT], g1[KERNEL_HEIGHT];
    for (int row = 0; row < rows + KERNEL_HEIGHT - 1; row++) {
        vec4 v[KERNEL_WIDTH + 1];
        for (int p = 0; p < KERNEL_WIDTH + 1; p++)
            v[p] = input_at(ivec2(first_x, first_y) + X.xy + ivec2(p, row), slice, X.z);
        for (int q = KERNEL_HEIGHT - 1; q > 0; q--) {
            g0[q] = g0[q - 1];
            g1[q] = g1[q - 1];
        }
        int y = min(X.y + row, end_y - 1);
        g0[0] = gradient(X.x, y, k, X.z);
        g1[0] = gradient(next, y, k, X.z);
        if (row < rows)
            bias += both ? g0[0] + g1[0] : g0[0];
        for (int q = 0; q < KERNEL_HEIGHT; q++) {
            if (row >= q && row - q < rows) {
                for (int p = 0; p < KERNEL_WIDTH; p++)
                    sum[q * KERNEL_WIDTH + p] += product(g0[q], v[p], 0);
                if (both)
                    for (int p = 0; p < KERNEL_WIDTH; p++)
                        sum[q * KERNEL_WIDTH + p] += product(g1[q], v[p + 1], 0);
            }
        }
    }
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), chunk = (at.x - lane) / LANES;
    int k = at.z / range;
    int s = at.z - k * range;
    int end = min((chunk + 1) * strips_per_chunk, strip_total);
    bias = vec4(0.0);
    for (int t = 0; t < TAPS; t++)
        sum[t] = vec4(0.0);
    for (int strip = chunk * strips_per_chunk + lane; strip < end; strip += LANES)
        add_strip(place_of_strip(strip), k, min(first_slice(k) + s, source_slices - 1));
    for (int t = 0; t < TAPS; t++) {
        vec4 total = sum_of_lanes(lane, sum[t]);
        if (lane == 0)
            keep(chunk, k, t * range + s, total);
    }
    vec4 total = sum_of_lanes(lane, bias);
    if (lane == 0 && s == 0)
        keep(chunk, k, element_count, total);
}
