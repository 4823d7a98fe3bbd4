// The outputs of a gradient of weights and biases: with ACCUMULATE they hold sums to add to. WHOLE:
// weights are stored by fours.
#ifdef WHOLE
#define WEIGHTS_STORED vec4
#else
#define WEIGHTS_STORED float
#endif

void add_weight(int index, WEIGHTS_STORED value) {
#ifdef ACCUMULATE
    value += gradient_for_weights[index];
#endif
    gradient_for_weights[index] = value;
}

#ifndef WITHOUT_BIASES
void add_bias(int index, float value) {
#ifdef ACCUMULATE
    value += gradient_for_biases[index];
#endif
    gradient_for_biases[index] = value;
}
#endif
