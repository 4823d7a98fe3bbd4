// out(X) = f(source(first + X)); PIXELS columns to an invocation
// With TOGETHER all are read before the first is stored: a store between two reads keeps them apart.
// needs lib/unrolled.glsl
// needs neuron/neuron.glsl
#define COLUMN(i) (left + at.x + i * grid_x)
#define READ(i) \
    { AT(read, i, PIXELS) = source_edge(first_x + COLUMN(i), first_y + at.y, slice, image); }
#define STORE(i) \
    { \
        vec4 value = neuron(AT(read, i, PIXELS), slope); \
        if (COLUMN(i) < right) \
            store_destination(COLUMN(i), at.y, slice, image, value); \
    }

void invocation(ivec2 at, int slice, int image) {
    vec4 slope = neuron_slope(slice);
#ifdef TOGETHER
    vec4 read[PIXELS];
    UP_TO_FOUR(READ, PIXELS)
    UP_TO_FOUR(STORE, PIXELS)
#else
    for (int i = 0; i < PIXELS; i++) {
        int x = COLUMN(i);
        vec4 value = neuron(source_edge(first_x + x, first_y + at.y, slice, image), slope);
        if (x < right)
            store_destination(x, at.y, slice, image, value);
    }
#endif
}
