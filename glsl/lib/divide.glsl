// Divisions of whole numbers.
int floor_divide(int a, int b) { // b > 0; GLSL's division rounds toward zero
    int q = a / b;
    return q * b > a ? q - 1 : q;
}

int ceil_divide(int a, int b) { return -floor_divide(-a, b); }

// i / d of a constant d, 0 <= i < 2048 and i * d < 2^20: some compilers make twenty instructions of a
// division by a constant that is no power of two.
#define SMALL_QUOTIENT(i, d) ((i) * (1048575 / (d) + 1) >> 20)

// a / b by way of floats, 0 <= a < 2^22, b > 0: where a GPU has no instruction for it, whole
// numbers take it thirty to two hundred. The float quotient is off by one at most.
int whole_quotient(int a, int b) {
    int q = int(float(a) / float(b));
    int rest = a - q * b;
    return rest < 0 ? q - 1 : rest >= b ? q + 1 : q;
}
