// products[first + chunk][point][k][row] = sum over the depths of a chunk of
//     left[point][depth][row] * right[point][depth][k],   k a slice of four columns
// A product of matrices for each point. Rows come in vectors. A group of 128 invocations makes 32
// vectors of 16 slices, each of them 2 vectors of 2 slices. It keeps DEPTH rows of both matrices at a
// time, and reads the next ones before it adds up those.
// needs desktop/winograd_place.glsl
#define VECTORS       32
#define SLICES      16
#define DEPTH       16
#define LEFT_PITCH  (VECTORS + 1) // neighbours in a column lie in different banks
#define RIGHT_PITCH (SLICES + 1)

shared vec4 kept_left[DEPTH * LEFT_PITCH];
shared vec4 kept_right[DEPTH * RIGHT_PITCH];

int lane;                 // within the group
vec4 read_left[4], read_right[2];
vec4 sum[16];

// Beyond the last depth, vector or slice: nothing.
void read_depths(int point, int depth, int end, int first_vector, int first_k) {
    int vector = first_vector + (lane & 31), k = first_k + (lane & 15);
    for (int i = 0; i < 4; i++) {
        int d = depth + (lane >> 5) + 4 * i;
        read_left[i] = d < end && vector < vector_count
                           ? left[(point * depth_count + d) * vector_count + vector]
                           : vec4(0.0);
    }
    for (int j = 0; j < 2; j++) {
        int d = depth + (lane >> 4) + 8 * j;
        read_right[j] = d < end && k < slice_total
                            ? right[(point * depth_count + d) * slice_total + k]
                            : vec4(0.0);
    }
}

void keep_depths() {
    for (int i = 0; i < 4; i++)
        kept_left[((lane >> 5) + 4 * i) * LEFT_PITCH + (lane & 31)] = read_left[i];
    for (int j = 0; j < 2; j++)
        kept_right[((lane >> 4) + 8 * j) * RIGHT_PITCH + (lane & 15)] = read_right[j];
}

int vector_of(int i) { return (lane >> 3) + 16 * i; }

int slice_of(int j) { return (lane & 7) + 8 * j; }

void add_depths() {
    for (int d = 0; d < DEPTH; d++) {
        vec4 w0 = kept_right[d * RIGHT_PITCH + slice_of(0)];
        vec4 w1 = kept_right[d * RIGHT_PITCH + slice_of(1)];
        for (int i = 0; i < 2; i++) {
            vec4 x = kept_left[d * LEFT_PITCH + vector_of(i)];
            for (int c = 0; c < 4; c++) {
                sum[(4 * i + c) * 2] += x[c] * w0;
                sum[(4 * i + c) * 2 + 1] += x[c] * w1;
            }
        }
    }
}

void invocation(ivec3 at) {
    lane = int(gl_LocalInvocationIndex);
    int first_vector = at.y * VECTORS, first_k = (at.x - lane) / 128 * SLICES;
    int chunk = at.z / 36;
    int point = at.z - chunk * 36;
    int begin = chunk * depths_per_chunk;
    int end = min(begin + depths_per_chunk, depth_count);
    for (int i = 0; i < 16; i++)
        sum[i] = vec4(0.0);
    read_depths(point, begin, end, first_vector, first_k);
    for (int depth = begin; depth < end; depth += DEPTH) {
        barrier();
        keep_depths();
        barrier();
        if (depth + DEPTH < end)
            read_depths(point, depth + DEPTH, end, first_vector, first_k);
        add_depths();
    }
    int pitch = product_pitch(vector_count * 4);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            int vector = first_vector + vector_of(i), k = first_k + slice_of(j);
            for (int c = 0; c < 4; c++)
                if (vector < vector_count && k < slice_total)
                    products[((at.z + first_product) * slice_total + k) * pitch +
                             product_place(4 * vector + c)] = sum[(4 * i + c) * 2 + j];
        }
}
