// STRIP results below each other, STEP apart, to an invocation, as pooling/pooling_strips.comp makes
// them, and which taps won. The first of equal taps does: rows come one after the other.
// needs lib/unroll_all.glsl
// needs pooling/kept_result.glsl
#define ROWS (KERNEL_HEIGHT + STRIP - 1)

void invocation(ivec2 at, int slice, int image) {
    int strip = at.y / STEP;
    ivec2 X = ivec2(at.x, first_row + at.y + strip * (STEP * (STRIP - 1)));
    ivec2 first = ivec2(first_x, first_y) + ivec2(stride_x, stride_y) * X;
    vec4 best[STRIP], places[STRIP];
    vec4 sum = vec4(0.0);
    for (int r = 0; r < ROWS; r++) {
        int y = first.y + dilation_y * r;
        vec4 row = source_edge(first.x, y, slice, image), columns = vec4(0.0);
        sum += row;
        for (int p = 1; p < KERNEL_WIDTH; p++) {
            vec4 value = source_edge(first.x + dilation_x * p, y, slice, image);
            bvec4 better = greaterThan(value, row);
            row = mix(row, value, better);
            columns = mix(columns, vec4(p), better);
            sum += value;
        }
        for (int i = 0; i < STRIP; i++) {
            int q = r - i;
            if (q == 0) {
                best[i] = row;
                places[i] = columns;
            } else if (q > 0 && q < KERNEL_HEIGHT) {
                bvec4 better = greaterThan(row, best[i]);
                best[i] = mix(best[i], row, better);
                places[i] = mix(places[i], columns + float(8 * q), better);
            }
        }
    }
    bool care = may_have_nan(sum);
    for (int i = 0; i < STRIP; i++, X.y += STEP) {
        if (X.y >= end_row)
            break;
        if (care)
            keep_result_with_care(X, slice, image);
        else
            keep_result(X, slice, image, best[i], places[i]);
    }
}
