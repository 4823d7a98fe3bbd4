// transposed(c, taps - 1 - tap, k) = weights(k, tap, c), of each group on its own: weights of a
// layer become those of the convolution that it mirrors. With BACK the gradients of the mirrored
// layer's weights become, or with ACCUMULATE are added to, those of the layer's.
void invocation(ivec3 at) {
    int rest = at.x / inputs_per_group;
    int c = at.x - rest * inputs_per_group;
    int k = rest / taps;
    int tap = rest - k * taps;
    int group = k / outputs_per_group;
    int row = (group * inputs_per_group + c) * taps + taps - 1 - tap;
    int place = row * outputs_per_group + k - group * outputs_per_group;
#ifndef BACK
    transposed[place] = weights[at.x];
#elif defined(ACCUMULATE)
    weights[at.x] += transposed[place];
#else
    weights[at.x] = transposed[place];
#endif
}
