// words[0] += 1. With lanes > 0, once, the arithmetic of the device is tried too (proof.c): of the
// numbers x_i = words[4 + i], 0 <= i < lanes, function f is left in words[4 + lanes * (1 + f) + i]:
//     f = 0: sqrt(x_i)   1: exp2(x_i)   2: log2(x_i)   3: floor(-x_i)   4: x_i / x_(i+1)
//         5: x_0 + .. + x_i
// The numbers lie in memory, so that no compiler computes for the device, and differ from invocation to
// invocation, since a compiler may have one instruction for several of them.
float known(int i) { return uintBitsToFloat(words[4 + i]); }

void leave(int function, int i, float value) {
    words[4 + lanes * (1 + function) + i] = floatBitsToUint(value);
}

float sum_until(int last) {
    float sum = 0.0;
    for (int i = 0; i <= last; i++)
        sum += known(i);
    return sum;
}

void invocation(ivec3 at) {
    int i = at.x;
    if (i == 0)
        words[0] += 1u;
    if (i >= lanes)
        return;
    float x = known(i);
    leave(0, i, sqrt(x));
    leave(1, i, exp2(x));
    leave(2, i, log2(x));
    leave(3, i, floor(-x));
    leave(4, i, x / known(i + 1 < lanes ? i + 1 : 0));
    leave(5, i, sum_until(i));
}
