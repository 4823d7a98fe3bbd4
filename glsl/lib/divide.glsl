// Divisions of whole numbers.
int floor_divide(int a, int b) { // b > 0; GLSL's division rounds toward zero
    int q = a / b;
    return q * b > a ? q - 1 : q;
}

int ceil_divide(int a, int b) { return -floor_divide(-a, b); }

// a / b by way of floats, 0 <= a < 2^22, b > 0: where a GPU has no instruction for it, whole
// numbers take it thirty to two hundred. The float quotient is off by one at most.
int whole_quotient(int a, int b) {
    int q = int(float(a) / float(b));
    int rest = a - q * b;
    return rest < 0 ? q - 1 : rest >= b ? q + 1 : q;
}
