// The outputs of a gradient of weights and biases: with ACCUMULATE they hold sums to add to.
void add_weight(int index, float value) {
#ifdef ACCUMULATE
    value += gradient_for_weights[index];
#endif
    gradient_for_weights[index] = value;
}

void add_bias(int index, float value) {
#ifdef ACCUMULATE
    value += gradient_for_biases[index];
#endif
    gradient_for_biases[index] = value;
}
