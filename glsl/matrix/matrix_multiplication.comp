// Sums of products over k, from first to last - 1:
//     PRODUCT 0   out(y, x) = sum left(y, k) right(k, x)
//     PRODUCT 1   out(y, x) = sum left(y, k) right(x, k)    left is G: dA = G B^T
//     PRODUCT 2   out(y, x) = sum left(k, y) right(k, x)    right is G: dB = A^T G
// Of a gradient G counts in columns and rows begin .. end - 1 alone.
// A sum is taken in runs of 64, so that its error grows with their length and number and not with
// the product of the two.
vec4 term(ivec2 at, int k, int slice, int image) {
#if PRODUCT == 0
    return left(k, at.y, slice, image) * right(at.x, k, slice, image);
#elif PRODUCT == 1
    return left(k, at.y, slice, image) * right(k, at.x, slice, image);
#else
    return left(at.y, k, slice, image) * right(at.x, k, slice, image);
#endif
}

bool counts(ivec2 at) {
#if PRODUCT == 1
    return at.y >= begin_y && at.y < end_y;
#elif PRODUCT == 2
    return at.x >= begin_x && at.x < end_x;
#else
    return true;
#endif
}

void invocation(ivec2 at, int slice, int image) {
    vec4 sum = vec4(0.0);
    int end = counts(at) ? last : first;
    for (int start = first; start < end; start += 64) {
        vec4 run = vec4(0.0);
        for (int k = start; k < min(start + 64, end); k++)
            run += term(at, k, slice, image);
        sum += run;
    }
    store_destination(at.x, at.y, slice, image, sum);
}
