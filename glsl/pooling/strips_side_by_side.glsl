// Strips of ROWS results below each other, of which a group makes STRIPS of a slice side by side in y,
// LANES columns of the source wide. An invocation folds one column for ROWS windows and leaves that in
// shared memory, where the columns of a window come together: strips read their pixels once.
// needs lib/divide.glsl
#define EXTENT_X    (dilation_x * (TAPS_X - 1) + 1)
#define EXTENT_Y    (dilation_y * (TAPS_Y - 1) + 1)
#define RESULTS     ((LANES - EXTENT_X) / stride_x + 1) // of a row
#define SOURCE_ROWS ((ROWS - 1) * stride_y + EXTENT_Y)

shared vec4 columns[STRIPS * ROWS * LANES];

// What the shader does for its column, whose windows' parts go to `first` and every LANES behind it,
// and for a result, whose first column is left there.
void fold_column(int first, ivec2 top, int slice, int image);
void make_result(ivec2 X, int first, int slice, int image);

void make_strips(ivec3 at) {
    int lane = int(gl_LocalInvocationID.x);
    int first = int(gl_LocalInvocationID.y) * ROWS * LANES;
    int image = layer_quotient(at.z, destination_slices);
    int slice = at.z - image * destination_slices;
    ivec2 X = ivec2(first_column + (at.x - lane) / LANES * RESULTS, first_row + at.y * ROWS);
    ivec2 top = ivec2(first_x, first_y) + X * ivec2(stride_x, stride_y);
    fold_column(first + lane, ivec2(top.x + lane, top.y), slice, image);
    barrier();
    for (int i = lane; i < ROWS * RESULTS; i += LANES) {
        int row = SMALL_QUOTIENT(i, RESULTS);
        int column = i - row * RESULTS;
        ivec2 to = X + ivec2(column, row);
        if (to.x < end_column && to.y < end_row)
            make_result(to, first + row * LANES + column * stride_x, slice, image);
    }
}
