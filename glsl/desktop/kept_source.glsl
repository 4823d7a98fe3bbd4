// The source below a tile of 16x16 pixels, of one slice of an image, kept by a group of 128
// invocations, each of which owns two pixels of a column.
// needs convolution/input.glsl
#define TILE       16
#define KEPT_WIDTH (TILE + KERNEL_WIDTH - 1)
#define KEPT       (KEPT_WIDTH * (TILE + KERNEL_HEIGHT - 1))
#define LOADS      ((KEPT + 127) / 128)

shared vec4 kept_source[KEPT];

vec4 kept(ivec2 at) { return kept_source[at.y * KEPT_WIDTH + at.x]; }

ivec2 own_pixel(int lane) { return ivec2(lane & 15, lane >> 4 << 1); }

void keep_source(int lane, ivec2 corner, int slice, int image) {
    for (int n = 0; n < LOADS; n++) {
        int i = lane + 128 * n;
        int y = i / KEPT_WIDTH;
        ivec2 t = corner + ivec2(i - y * KEPT_WIDTH, y);
        if (i < KEPT)
            kept_source[i] = input_at(t, min(slice, source_slices - 1), image);
    }
}
