// dW(k, u, c) (+)= sum over images of G(k) * in(u, c);   db(k) (+)= sum over images of G(k)
// As a product of matrices: rows are vectors of inputs (four channels at a pixel), columns are outputs,
// and the sum goes over images. A group of 128 invocations goes through all images for VECTORS vectors of
// SLICES slices, each invocation for 2 of 2. It keeps IMAGES images at a time, few: groups then
// need little of what a processor has, and while some of them read or store others add up. Inputs are
// a multiple of 4, and weights are stored by fours. WHOLE_IMAGES: images are a multiple of IMAGES.
// needs convolution/convolution_gradient.glsl
#define VECTORS  32
#define SLICES 16
#define IMAGES 8
#define READS  (IMAGES * VECTORS / 128)

shared vec4 kept_inputs[IMAGES * VECTORS];
shared vec4 kept_gradients[IMAGES * SLICES];

int lane;                               // within the group
ivec3 place;                            // column, row and slice of the inputs that it reads for all
int read_slice;                         // and the slice of the gradient
vec4 inputs[READS], own_gradient;       // what it has read
vec4 sum[16], bias;

ivec3 place_of(int vector) {
    int pixel = quotient(vector, source_slices);
    int y = quotient(pixel, kernel_width);
    return ivec3(pixel - y * kernel_width, y, vector - pixel * source_slices);
}

#ifdef WHOLE_IMAGES
#define COUNTS(condition, value) value

void read_images(int first) {
    for (int i = 0; i < READS; i++)
        inputs[i] = source(place.x, place.y, place.z, first + lane / VECTORS + 128 / VECTORS * i);
    own_gradient = gradient(begin_x, begin_y, read_slice, first + lane / SLICES);
}
#else
#define COUNTS(condition, value) (condition ? value : vec4(0.0))

bool live_inputs[READS], live_gradient; // else 0

// Beyond the last image: 0 times 0. Whether one counts is asked when it is kept: whoever asks at once
// waits for the read.
void read_images(int first) {
    int last = source_images - 1;
    for (int i = 0; i < READS; i++) {
        int image = first + lane / VECTORS + 128 / VECTORS * i;
        inputs[i] = source(place.x, place.y, place.z, min(image, last));
        live_inputs[i] = image <= last;
    }
    int image = first + lane / SLICES;
    own_gradient = gradient(begin_x, begin_y, read_slice, min(image, last));
    live_gradient = image <= last;
}
#endif

void keep_images() {
    for (int i = 0; i < READS; i++)
        kept_inputs[lane + 128 * i] = COUNTS(live_inputs[i], inputs[i]);
    kept_gradients[lane] = COUNTS(live_gradient, own_gradient);
}

// Of 32 invocations, which run in step, eight own neighbouring vectors of the same slices, and store them
// side by side. Those beside each other own the same vectors, those two apart the same slices: what
// both read of what is kept is then read for both at once.
int vector_of(int i) { return (lane >> 1 & 7 | lane >> 2 & 8) + VECTORS / 2 * i; }

int slice_of(int j) { return (lane & 1 | lane >> 3 & 2 | lane >> 4 & 4) + SLICES / 2 * j; }

void add_images() {
    for (int n = 0; n < IMAGES; n++) {
        vec4 g0 = kept_gradients[n * SLICES + slice_of(0)];
        vec4 g1 = kept_gradients[n * SLICES + slice_of(1)];
        for (int i = 0; i < 2; i++) {
            vec4 x = kept_inputs[n * VECTORS + vector_of(i)];
            for (int c = 0; c < 4; c++) {
                sum[(4 * i + c) * 2] += x[c] * g0;
                sum[(4 * i + c) * 2 + 1] += x[c] * g1;
            }
        }
    }
}

// The first invocations of the first groups: a slice each.
void add_biases() {
    for (int n = 0; n < IMAGES; n++)
        bias += kept_gradients[n * SLICES + lane];
}

void store_input(int vector, int o, float a, float b, float c, float d) {
    if (vector < vector_count && o < output_count)
        add_weight(o * vector_count + vector, vec4(a, b, c, d));
}

// Outputs one after the other and not in a loop, which compilers may leave as it is: the components
// would not be known then.
void store_vector(int i, int j, int first_vector, int first_k) {
    int vector = first_vector + vector_of(i), o = 4 * (first_k + slice_of(j));
    vec4 a = sum[8 * i + j], b = sum[8 * i + 2 + j], c = sum[8 * i + 4 + j], d = sum[8 * i + 6 + j];
    store_input(vector, o, a.x, b.x, c.x, d.x);
    store_input(vector, o + 1, a.y, b.y, c.y, d.y);
    store_input(vector, o + 2, a.z, b.z, c.z, d.z);
    store_input(vector, o + 3, a.w, b.w, c.w, d.w);
}

void invocation(ivec3 at) {
    lane = int(gl_LocalInvocationIndex);
    int first_vector = (at.x - lane) / 128 * VECTORS, first_k = at.y * SLICES;
    bool has_biases = first_vector == 0 && lane < SLICES;
    place = place_of(min(first_vector + lane % VECTORS, vector_count - 1));
    read_slice = min(first_k + lane % SLICES, gradient_slices - 1);
    for (int i = 0; i < 16; i++)
        sum[i] = vec4(0.0);
    bias = vec4(0.0);
    read_images(0);
    for (int n = 0; n < source_images; n += IMAGES) {
        barrier();
        keep_images();
        barrier();
        if (n + IMAGES < source_images)
            read_images(n + IMAGES);
        add_images();
        if (has_biases)
            add_biases();
    }
    store_vector(0, 0, first_vector, first_k);
    store_vector(0, 1, first_vector, first_k);
    store_vector(1, 0, first_vector, first_k);
    store_vector(1, 1, first_vector, first_k);
    for (int i = 0; i < 4; i++)
        if (has_biases && 4 * (first_k + lane) + i < output_count)
            add_bias(4 * (first_k + lane) + i, bias[i]);
}
