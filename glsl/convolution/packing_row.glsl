// Of a table of layers the row that an invocation works for, and what convolution/convolution.glsl
// takes: there by uniforms and defines, here by variables. A row begins with the first invocation that
// works for it; from word ROW_ENTRY on it has those of its packing, and PACKING_WORDS further what
// else its kernel says.
#define WEIGHT_INDEX
#define GROUPED
#define COMPONENTS components
#define IS_DEPTHWISE (depthwise != 0)
#define IS_TRANSPOSED (transposed != 0)
int element_count, components, range, inputs_per_group, outputs_per_group, output_count;
int depthwise, transposed, tap_width, tap_first_x, tap_first_y, tap_step_x, tap_step_y;
int layer_width, layer_taps;

#define PACKING_WORDS 15

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
    element_count = word(row, ROW_ENTRY);
    components = word(row, ROW_ENTRY + 1);
    range = word(row, ROW_ENTRY + 2);
    inputs_per_group = word(row, ROW_ENTRY + 3);
    outputs_per_group = word(row, ROW_ENTRY + 4);
    output_count = word(row, ROW_ENTRY + 5);
    depthwise = word(row, ROW_ENTRY + 6);
    transposed = word(row, ROW_ENTRY + 7);
    tap_width = word(row, ROW_ENTRY + 8);
    tap_first_x = word(row, ROW_ENTRY + 9);
    tap_first_y = word(row, ROW_ENTRY + 10);
    tap_step_x = word(row, ROW_ENTRY + 11);
    tap_step_y = word(row, ROW_ENTRY + 12);
    layer_width = word(row, ROW_ENTRY + 13);
    layer_taps = word(row, ROW_ENTRY + 14);
}
