// dW(k, q, p, c) = sum over images and X of G(X, k) * in(first + stride * X + dilation * (p, q), c)
// db(k) = sum of G(X, k)
// As a product of matrices: rows are vectors of elements (a tap, four inputs), columns are outputs,
// and the sum goes over pixels. A group of 128 invocations makes VECTORS vectors of SLICES slices from
// the pixels of its chunk, each of them 2 vectors of 2 slices. It keeps PIXELS pixels at a time, and
// reads the next ones before it adds up those. Chunks take turns, of turn_pixels pixels: of few, groups
// at work read what lies near, and not a part of every image. Where a tile is small there are several
// invocations for each sum: they split the pixels that are kept, and each stores a partial sum.
// convolution/convolution_gradient_sum.comp adds those of all chunks. WHOLE: there is
// one only, and it is stored as the gradient; inputs are a multiple of 4 then.
// needs desktop/gradient_pixels.glsl
#define PIXELS         16
#define SUMMERS        (VECTORS * SLICES / 4) // invocations that have all sums of the group
#define SPLITS         (128 / SUMMERS)
#define INPUT_READS    (VECTORS / 8)
#define GRADIENT_READS ((SLICES + 7) / 8)
#define INPUT_PITCH    (VECTORS + 1) // neighbours in a column lie in different banks
#define GRADIENT_PITCH (SLICES + 1)

shared vec4 kept_inputs[PIXELS * INPUT_PITCH];
shared vec4 kept_gradients[PIXELS * GRADIENT_PITCH];

int lane;                         // within the group
int split, summer;                // which pixels, and which sums, are its own
ivec3 taps[INPUT_READS];          // column, row, slice of the vectors that it reads for all
bool live_taps[INPUT_READS];
vec4 inputs[INPUT_READS], gradients[GRADIENT_READS]; // what it has read
bool live_inputs[INPUT_READS], live_gradients[GRADIENT_READS]; // else 0
vec4 sum[16], bias[2];

// From a pixel to that which so many pixels follow.
ivec3 distance_of(int pixels) { return place_of(pixels) - ivec3(begin_x, begin_y, 0); }

// The pixel that is as far away. Divisions would cost more.
ivec3 place_after(ivec3 X, ivec3 distance) {
    X += distance;
    if (X.x >= end_x)
        X += ivec3(begin_x - end_x, 1, 0);
    if (X.y >= end_y)
        X += ivec3(0, begin_y - end_y, 1);
    return X;
}

// Pixel, and column of vectors or slices, that an invocation reads. Neighbours read neighbours: in
// images of a pixel those are of other channels.
#ifdef ONE_PIXEL
int read_pixel() { return lane >> 3; }

int read_column() { return lane & 7; }
#else
int read_pixel() { return lane & 15; }

int read_column() { return lane >> 4; }
#endif

void find_taps(int first_vector) {
    for (int i = 0; i < INPUT_READS; i++) {
        int vector = first_vector + read_column() + 8 * i;
        int tap = quotient(vector, source_slices);
        int row = quotient(tap, kernel_width);
        live_taps[i] = vector * 4 < element_count;
        taps[i] = ivec3(tap - row * kernel_width, row, vector - tap * source_slices);
    }
}

// Beyond the last pixel, element or slice: what there is nearest. Whether it counts is asked when it
// is kept: whoever asks at once waits for the read.
void read_pixels(ivec3 X, bool live, int first_k) {
    ivec2 last = ivec2(source_width, source_height) - 1;
    int image = min(X.z, gradient_images - 1);
    ivec2 corner = ivec2(first_x, first_y) + ivec2(stride_x, stride_y) * X.xy;
    for (int i = 0; i < INPUT_READS; i++) {
        ivec2 t = corner + ivec2(dilation_x, dilation_y) * taps[i].xy;
        ivec2 inside = clamp(t, ivec2(0), last);
        inputs[i] = source(inside.x, inside.y, taps[i].z, image);
        live_inputs[i] = live && live_taps[i];
#ifndef EDGE_CLAMP
        live_inputs[i] = live_inputs[i] && t == inside;
#endif
    }
    for (int j = 0; j < GRADIENT_READS; j++) {
        int k = first_k + read_column() + 8 * j;
        gradients[j] = gradient(X.x, X.y, min(k, slice_total - 1), image);
        live_gradients[j] = live && k < slice_total;
    }
}

void keep_pixels() {
    for (int i = 0; i < INPUT_READS; i++)
        kept_inputs[read_pixel() * INPUT_PITCH + read_column() + 8 * i] =
            live_inputs[i] ? inputs[i] : vec4(0.0);
    for (int j = 0; j < GRADIENT_READS; j++)
        if (read_column() + 8 * j < SLICES)
            kept_gradients[read_pixel() * GRADIENT_PITCH + read_column() + 8 * j] =
                live_gradients[j] ? gradients[j] : vec4(0.0);
}

int vector_of(int i) { return summer / (SLICES / 2) + VECTORS / 2 * i; }

int slice_of(int j) { return summer % (SLICES / 2) + SLICES / 2 * j; }

void add_pixels(bool with_bias) {
    for (int n = 0; n < PIXELS / SPLITS; n++) {
        int p = n * SPLITS + split;
        vec4 g0 = kept_gradients[p * GRADIENT_PITCH + slice_of(0)];
        vec4 g1 = kept_gradients[p * GRADIENT_PITCH + slice_of(1)];
        for (int i = 0; i < 2; i++) {
            vec4 x = kept_inputs[p * INPUT_PITCH + vector_of(i)];
            for (int c = 0; c < 4; c++) {
                sum[(4 * i + c) * 2] += x[c] * g0;
                sum[(4 * i + c) * 2 + 1] += x[c] * g1;
            }
        }
        if (with_bias) {
            bias[0] += g0;
            bias[1] += g1;
        }
    }
}

#ifdef WHOLE
void store_slice(int chunk, int first_vector, int j, int k) {
    for (int n = 0; n < 4 && 4 * k + n < output_count; n++) {
        for (int i = 0; i < 2; i++) {
            int vector = first_vector + vector_of(i), first = 8 * i + j;
            if (4 * vector < element_count)
                add_weight((4 * k + n) * (element_count / 4) + vector,
                           vec4(sum[first][n], sum[first + 2][n], sum[first + 4][n],
                                sum[first + 6][n]));
        }
        if (first_vector == 0 && summer < SLICES / 2)
            add_bias(4 * k + n, bias[j][n]);
    }
}
#else
void store_slice(int chunk, int first_vector, int j, int k) {
    int base = ((chunk * SPLITS + split) * slice_total + k) * (element_count + 1);
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < 4; c++) {
            int element = 4 * (first_vector + vector_of(i)) + c;
            if (element < element_count)
                partial_sums[base + element] = sum[(4 * i + c) * 2 + j];
        }
    if (first_vector == 0 && summer < SLICES / 2)
        partial_sums[base + element_count] = bias[j];
}
#endif

void invocation(ivec3 at) {
    lane = int(gl_LocalInvocationIndex);
    split = SPLITS > 1 ? lane / SUMMERS : 0;
    summer = lane - split * SUMMERS;
    int chunk = at.z;
    int first_vector = (at.x - lane) / 128 * VECTORS, first_k = at.y * SLICES;
    int to_turn = turn_pixels * (chunk_count - 1) + PIXELS; // from the last of a turn to the next
    ivec3 near = distance_of(PIXELS), far = distance_of(to_turn);
    for (int i = 0; i < 16; i++)
        sum[i] = vec4(0.0);
    bias[0] = bias[1] = vec4(0.0);
    int own = chunk * turn_pixels + read_pixel();
    ivec3 X = place_of(own);
    find_taps(first_vector);
    read_pixels(X, own < pixel_total, first_k);
    int left = turn_pixels; // of the turn, a multiple of PIXELS
    for (int pixel = chunk * turn_pixels; pixel < pixel_total;) {
        barrier();
        keep_pixels();
        barrier();
        bool turns = left == PIXELS;
        left = turns ? turn_pixels : left - PIXELS;
        pixel += turns ? to_turn : PIXELS;
        own += turns ? to_turn : PIXELS;
        X = place_after(X, turns ? far : near);
        if (pixel < pixel_total)
            read_pixels(X, own < pixel_total, first_k);
        add_pixels(first_vector == 0);
    }
    for (int j = 0; j < 2; j++)
        if (first_k + slice_of(j) < slice_total)
            store_slice(chunk, first_vector, j, first_k + slice_of(j));
}
