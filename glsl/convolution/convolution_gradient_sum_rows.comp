// dW, db (+)= sum over chunks of the partial sums of a layer, as convolution_gradient_sum.comp makes
// them, of all layers of a table. Before the words of its packing a row has where its partial sums, its
// weights and its biases begin, -1 for none; behind them its chunks, those of a run, and whether the
// gradients hold sums to add to.
// needs convolution/packing_row.glsl
// needs convolution/convolution.glsl
// needs convolution/chunks.glsl
#define ROW_PARTS  1
#define ROW_CHUNKS (ROW_ENTRY + PACKING_WORDS)

void add(int row, int index, float value) {
    bool adds = word(row, ROW_CHUNKS + 2) != 0;
    vectors[index] = adds ? vectors[index] + value : value;
}

void invocation(ivec3 at) {
    int row = row_of(at.x);
    take_packing(row);
    int each = element_count + 1, number = at.x - word(row, 0);
    int k = quotient(number, each);
    int element = number - k * each;
    vec4 sum = sum_of_chunks(word(row, ROW_PARTS) + number, (output_count + 3) / 4 * each,
                             word(row, ROW_CHUNKS), word(row, ROW_CHUNKS + 1));
    int first_weight = word(row, ROW_PARTS + 1), first_bias = word(row, ROW_PARTS + 2);
    ivec2 parts = element_parts(k, element);
    for (int i = 0; i < 4; i++) {
        int o = 4 * k + i;
        if (o >= output_count)
            return;
        if (element == element_count) {
            if (first_bias >= 0)
                add(row, first_bias + o, sum[i]);
            continue;
        }
        int index = weight_index_of(o, parts);
        if (index >= 0)
            add(row, first_weight + index, sum[i]);
    }
}
