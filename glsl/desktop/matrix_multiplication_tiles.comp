// out(y, x) = sum over k, from first to last - 1, of left_factor(y, k) right_factor(x, k)
// A group of 128 invocations makes ROWS x COLUMNS elements of a slice, each of them 4 x 4. It keeps
// DEPTH columns of the left and DEPTH rows of the right factors at a time, and reads the next ones
// before it adds up those.
// needs matrix/factors.glsl
#define DEPTH        8
#define ACROSS       (COLUMNS / 4) // invocations that own the same rows
#define DOWN         (ROWS / 4)
#define LEFT_READS   (ROWS / 16)
#define RIGHT_READS  (COLUMNS / 16)
#define LEFT_PITCH   (ROWS + 1) // neighbours in a column lie in different banks
#define RIGHT_PITCH  (COLUMNS + 1)

shared vec4 kept_left[DEPTH * LEFT_PITCH];
shared vec4 kept_right[DEPTH * RIGHT_PITCH];

int lane;        // within the group
ivec2 corner;    // of the tile
int slice, image;
vec4 lefts[LEFT_READS], rights[RIGHT_READS]; // what it has read
bool live;       // else 0
vec4 sum[16];

// The k, and the row or column of the tile, that an invocation reads.
int read_k() { return lane % DEPTH; }
int read_place(int i) { return lane / DEPTH + 16 * i; }

// The nearest element that counts: beyond are those of which nothing is stored.
ivec2 nearest(ivec2 at) {
    at = min(at, ivec2(region_x + region_width, region_y + region_height) - 1);
#if PRODUCT == 1
    at.y = clamp(at.y, begin_y, max(end_y - 1, begin_y));
#elif PRODUCT == 2
    at.x = clamp(at.x, begin_x, max(end_x - 1, begin_x));
#endif
    return at;
}

// Beyond the last k: 0 times 0. Whether it counts is asked when it is kept: whoever asks at once
// waits for the read.
void read_factors(int start) {
    int k = start + read_k();
    live = k < last;
    k = min(k, last - 1);
    for (int i = 0; i < LEFT_READS; i++)
        lefts[i] = left_factor(nearest(corner + read_place(i)).y, k, slice, image);
    for (int j = 0; j < RIGHT_READS; j++)
        rights[j] = right_factor(nearest(corner + read_place(j)).x, k, slice, image);
}

void keep_factors() {
    for (int i = 0; i < LEFT_READS; i++)
        kept_left[read_k() * LEFT_PITCH + read_place(i)] = live ? lefts[i] : vec4(0.0);
    for (int j = 0; j < RIGHT_READS; j++)
        kept_right[read_k() * RIGHT_PITCH + read_place(j)] = live ? rights[j] : vec4(0.0);
}

// Neighbours own neighbouring columns.
int row_of(int i) { return lane / ACROSS + DOWN * i; }
int column_of(int j) { return lane % ACROSS + ACROSS * j; }

void add_products() {
    for (int k = 0; k < DEPTH; k++) {
        vec4 r[4];
        for (int j = 0; j < 4; j++)
            r[j] = kept_right[k * RIGHT_PITCH + column_of(j)];
        for (int i = 0; i < 4; i++) {
            vec4 l = kept_left[k * LEFT_PITCH + row_of(i)];
            for (int j = 0; j < 4; j++)
                sum[4 * i + j] += l * r[j];
        }
    }
}

void store_sum(int i, int j, vec4 value) {
    ivec2 at = corner + ivec2(column_of(j), row_of(i));
    if (at.x < region_x + region_width && at.y < region_y + region_height)
        store_destination(at.x, at.y, slice, image, counts(at) ? value : vec4(0.0));
}

void store_row(int i, vec4 a, vec4 b, vec4 c, vec4 d) {
    store_sum(i, 0, a);
    store_sum(i, 1, b);
    store_sum(i, 2, c);
    store_sum(i, 3, d);
}

// One after the other and not in a loop, which compilers may leave as it is: the places in `sum`
// would not be constants then.
void store_sums() {
    store_row(0, sum[0], sum[1], sum[2], sum[3]);
    store_row(1, sum[4], sum[5], sum[6], sum[7]);
    store_row(2, sum[8], sum[9], sum[10], sum[11]);
    store_row(3, sum[12], sum[13], sum[14], sum[15]);
}

void invocation(ivec3 at) {
    lane = int(gl_LocalInvocationIndex);
    image = layer_quotient(at.z, destination_slices);
    slice = at.z - image * destination_slices;
    corner = ivec2(region_x, region_y) + ivec2((at.x - lane) / 128 * COLUMNS, at.y * ROWS);
    for (int i = 0; i < 16; i++)
        sum[i] = vec4(0.0);
    read_factors(first);
    for (int k = first; k < last; k += DEPTH) {
        barrier();
        keep_factors();
        barrier();
        if (k + DEPTH < last)
            read_factors(k + DEPTH);
        add_products();
    }
    store_sums();
}
