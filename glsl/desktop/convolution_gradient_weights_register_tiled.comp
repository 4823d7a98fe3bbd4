// dW(k, q, p) = sum over images and X of G(X, k) * in(first + X + (p, q), c)
// db(k) = sum of G(X, k)
// As desktop/convolution_gradient_weights_group.comp, for small windows without stride or
// dilation: each invocation goes down register tiles of the gradient, of two columns and tile_rows
// rows. Each row of the source that it reads meets the gradients of the last rows.
// With LAST_BLOCK the last group of a slice adds up the sums of all chunks, else another pass does.
// needs convolution/convolution.glsl
// needs convolution/input.glsl
#define TAPS   (KERNEL_WIDTH * KERNEL_HEIGHT)
#define FOLDED 16 // invocations whose sums are added up one after the other

shared vec4 kept_sums[(TAPS + 1) * LANES / 2];

vec4 sum[TAPS + 1];                        // of each tap, and of the gradient
vec4 v[KERNEL_WIDTH + 1];                  // a row of the source
vec4 g0[KERNEL_HEIGHT], g1[KERNEL_HEIGHT]; // [q]: of the pixels q rows above

void keep(int chunk, int k, int element, vec4 value) {
    partial_sums[(chunk * slice_total + k) * (element_count + 1) + element] = value;
}

// First pixel and image of a tile; those of all images are numbered through.
ivec3 place_of_tile(int tile) {
    int row = quotient(tile, pairs);
    int image = quotient(row, tiles_down);
    return ivec3(begin_x + 2 * (tile - row * pairs),
                 begin_y + (row - image * tiles_down) * tile_rows, image);
}

// The taps of row q of the window, of the gradients q rows above.
void add_taps(int q, bool both) {
    for (int p = 0; p < KERNEL_WIDTH; p++)
        sum[q * KERNEL_WIDTH + p] += product(g0[q], v[p], 0);
    if (both)
        for (int p = 0; p < KERNEL_WIDTH; p++)
            sum[q * KERNEL_WIDTH + p] += product(g1[q], v[p + 1], 0);
}

// One after the other and not in a loop, which compilers may leave as it is: the places in `sum`
// would not be constants then.
#define ADD_TAPS(q)                                                                                \
    if (row >= q && row - q < rows)                                                                \
        add_taps(q, both);

void add_row(int row, int rows, bool both) {
    ADD_TAPS(0)
#if KERNEL_HEIGHT > 1
    ADD_TAPS(1)
#endif
#if KERNEL_HEIGHT > 2
    ADD_TAPS(2)
#endif
#if KERNEL_HEIGHT > 3
    ADD_TAPS(3)
#endif
#if KERNEL_HEIGHT > 4
    ADD_TAPS(4)
#endif
#if KERNEL_HEIGHT > 5
    ADD_TAPS(5)
#endif
#if KERNEL_HEIGHT > 6
    ADD_TAPS(6)
#endif
}

void add_tile(ivec3 X, int k, int slice) {
    int rows = min(tile_rows, end_y - X.y), next = min(X.x + 1, end_x - 1);
    bool both = X.x + 1 < end_x;
    for (int row = 0; row < rows + KERNEL_HEIGHT - 1; row++) {
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
            sum[TAPS] += both ? g0[0] + g1[0] : g0[0];
        add_row(row, rows, both);
    }
}

void put_sums(int at, int apart) {
    for (int t = 0; t <= TAPS; t++)
        kept_sums[t * apart + at] = sum[t];
}

void take_sums(int at, int apart) {
    for (int t = 0; t <= TAPS; t++)
        sum[t] += kept_sums[t * apart + at];
}

// In pairs, and all taps at once: each round of a tap by itself would be waited for.
void fold_sums(int lane) {
    for (int apart = LANES / 2; apart >= FOLDED; apart /= 2) {
        if (lane >= apart && lane < 2 * apart)
            put_sums(lane - apart, apart);
        barrier();
        if (lane < apart)
            take_sums(lane, apart);
        barrier();
    }
    if (lane < FOLDED)
        put_sums(lane, FOLDED);
    barrier();
}

// A tap for each of the first invocations.
void keep_sums(int lane, int chunk, int k, int s) {
    vec4 total = vec4(0.0);
    fold_sums(lane);
    if (lane > TAPS || (lane == TAPS && s > 0))
        return;
    for (int i = 0; i < FOLDED; i++)
        total += kept_sums[lane * FOLDED + i];
    keep(chunk, k, lane < TAPS ? lane * range + s : element_count, total);
}

#ifdef LAST_BLOCK
#define NUMBERS_APART 16 // no fewer than there are
#define SPLITS        (LANES / NUMBERS_APART)

// Each of SPLITS lanes adds up every SPLITS-th chunk of a number, and one of them, in their order,
// what all have.
void add_chunks(int lane, int k, int s) {
    int number = lane % NUMBERS_APART, split = lane / NUMBERS_APART;
    int element = number < TAPS ? number * range + s : element_count;
    vec4 total = vec4(0.0);
    for (int chunk = split; chunk < runs; chunk += SPLITS)
        total += partial_sums[(chunk * slice_total + k) * (element_count + 1) + element];
    kept_sums[lane] = total;
    barrier();
    if (split > 0 || number > TAPS || (number == TAPS && s > 0))
        return;
    for (int i = 1; i < SPLITS; i++)
        total += kept_sums[i * NUMBERS_APART + number];
    add_element(k, element, total);
}
#endif

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), chunk = (at.x - lane) / LANES;
    int k = layer_quotient(at.z, range);
    int s = at.z - k * range;
    for (int t = 0; t <= TAPS; t++)
        sum[t] = vec4(0.0);
    for (int tile = chunk * LANES + lane; tile < tile_total; tile += tile_stride)
        add_tile(place_of_tile(tile), k, min(first_slice(k) + s, source_slices - 1));
    keep_sums(lane, chunk, k, s);
#ifdef LAST_BLOCK
    if (is_last_block(lane, TAPS + 1, at.z, 0))
        add_chunks(lane, k, s);
#endif
}
