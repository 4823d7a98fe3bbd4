// Of a table of layers the row that an invocation works for, and what convolution/convolution.glsl
// takes: there by uniforms and defines, here by variables. A row is the first invocation that works
// for it; the image that it is stored in and the words of its place in that, as record/view.glsl has
// them; where its weights and its biases begin, -1 for none; and the words of its packing.
#define WEIGHT_INDEX
#define GROUPED
#define COMPONENTS components
#define IS_DEPTHWISE (depthwise != 0)
#define IS_TRANSPOSED (transposed != 0)
int element_count, components, range, inputs_per_group, outputs_per_group, output_count;
int depthwise, transposed, tap_width, tap_first_x, tap_first_y, tap_step_x, tap_step_y;
int layer_width, layer_taps;

#define ROW_PLACE 2
#define ROW_VECTORS (ROW_PLACE + 12)
#define ROW_PACKING (ROW_VECTORS + 2)

int word(int row, int index) { return rows[row * ROW_WORDS + index]; }

// The last row that begins at invocation `at` or before.
int row_of(int at) {
    int low = 0, high = row_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        bool before = word(middle, 0) <= at;
        low = before ? middle : low;
        high = before ? high : middle - 1;
    }
    return low;
}

void take_packing(int row) {
    element_count = word(row, ROW_PACKING);
    components = word(row, ROW_PACKING + 1);
    range = word(row, ROW_PACKING + 2);
    inputs_per_group = word(row, ROW_PACKING + 3);
    outputs_per_group = word(row, ROW_PACKING + 4);
    output_count = word(row, ROW_PACKING + 5);
    depthwise = word(row, ROW_PACKING + 6);
    transposed = word(row, ROW_PACKING + 7);
    tap_width = word(row, ROW_PACKING + 8);
    tap_first_x = word(row, ROW_PACKING + 9);
    tap_first_y = word(row, ROW_PACKING + 10);
    tap_step_x = word(row, ROW_PACKING + 11);
    tap_step_y = word(row, ROW_PACKING + 12);
    layer_width = word(row, ROW_PACKING + 13);
    layer_taps = word(row, ROW_PACKING + 14);
}
