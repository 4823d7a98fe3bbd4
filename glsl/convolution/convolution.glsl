// Packed weights: for each slice of outputs a row of elements, each four numbers of outputs
// 4k .. 4k + 3. With tap = q * tap_width + p, for tap (tap_first + tap_step * (p, q)) of the layer,
//     element (tap * range + s) * COMPONENTS + c   weights of tap for input
//                                                  4 * (first_slice(k) + s) + c
//     element element_count                        biases
// `range` slices of input hold all that the groups of four outputs see. COMPONENTS is 4; it is 1
// with ONE_CHANNEL (a single input) and with DEPTHWISE (output o sees no input but o).
// TRANSPOSED: the inputs here are the layer's outputs and the other way round.
// Elements lie in a single row of texels, or in rows of 16.
#define PACKED_SHIFT 4
#ifdef ONE_ROW
#define PACKED_X(element) (element)
#define PACKED_Y(element) 0
#else
#define PACKED_X(element) ((element) & ((1 << PACKED_SHIFT) - 1))
#define PACKED_Y(element) ((element) >> PACKED_SHIFT)
#endif

#ifdef GROUPED
int first_slice(int k) { return quotient(4 * k, outputs_per_group) * inputs_per_group >> 2; }
#else
int first_slice(int k) { return 0; }
#endif

// Of an element's weights and the input of its component c; with COMPONENTS 1, c is 0.
#ifdef DEPTHWISE
vec4 product(vec4 weight, vec4 value, int c) { return weight * value; }
#else
vec4 product(vec4 weight, vec4 value, int c) { return weight * value[c]; }
#endif

#ifdef WEIGHT_INDEX
#ifndef IS_DEPTHWISE // else they are variables
#ifdef DEPTHWISE
#define IS_DEPTHWISE true
#else
#define IS_DEPTHWISE false
#endif
#ifdef TRANSPOSED
#define IS_TRANSPOSED true
#else
#define IS_TRANSPOSED false
#endif
#endif

// Of an element of slice k: the layer's tap, and the input, which is the output itself with DEPTHWISE.
ivec2 element_parts(int k, int element) {
    int number = quotient(element, COMPONENTS);
    int tap = quotient(number, range);
    int s = number - tap * range;
    int q = quotient(tap, tap_width);
    int p = tap - q * tap_width;
    return ivec2((tap_first_y + tap_step_y * q) * layer_width + tap_first_x + tap_step_x * p,
                 4 * (first_slice(k) + s) + element - number * COMPONENTS);
}

// Place of output o's number of these in W[outputs][taps][inputs / groups]; -1: it has none. Divisions take
// most GPUs dozens of instructions: what all outputs of a slice have in common is found once.
int weight_index_of(int o, ivec2 parts) {
    int i = IS_DEPTHWISE ? o : parts.y;
#ifdef GROUPED
    int group = quotient(o, outputs_per_group);
#else
    int group = 0;
#endif
    int local = i - group * inputs_per_group;
    if (local < 0 || local >= inputs_per_group)
        return -1;
    return IS_TRANSPOSED
               ? (i * layer_taps + parts.x) * outputs_per_group + o - group * outputs_per_group
               : (o * layer_taps + parts.x) * inputs_per_group + local;
}

int weight_index(int o, int element) { return weight_index_of(o, element_parts(o >> 2, element)); }

// The same where every output sees all inputs: of tap (p, q) and input i.
int dense_weight_index(int o, int q, int p, int i) {
    int tap = (tap_first_y + tap_step_y * q) * layer_width + tap_first_x + tap_step_x * p;
#ifdef TRANSPOSED
    return (i * layer_taps + tap) * outputs_per_group + o;
#else
    return (o * layer_taps + tap) * inputs_per_group + i;
#endif
}
#endif
