// What is multiplied for element (y, x) of the result and summed over k:
//     PRODUCT 0   left(y, k) right(k, x)
//     PRODUCT 1   left(y, k) right(x, k)    left is G: dA = G B^T
//     PRODUCT 2   left(k, y) right(k, x)    right is G: dB = A^T G
vec4 left_factor(int y, int k, int slice, int image) {
#if PRODUCT == 2
    return left(y, k, slice, image);
#else
    return left(k, y, slice, image);
#endif
}

vec4 right_factor(int x, int k, int slice, int image) {
#if PRODUCT == 1
    return right(k, x, slice, image);
#else
    return right(x, k, slice, image);
#endif
}

// Of a gradient G counts in columns and rows begin .. end - 1 alone.
bool counts(ivec2 at) {
#if PRODUCT == 1
    return at.y >= begin_y && at.y < end_y;
#elif PRODUCT == 2
    return at.x >= begin_x && at.x < end_x;
#else
    return true;
#endif
}
