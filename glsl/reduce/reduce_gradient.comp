// dX(u) = scale / divisor * G(X) for the result X that pixel u went into, 0 where there is none
// Result X was made of pixels first + X + p, p < size, one axis or none of them longer than 1.
// With SPLAT the result has one channel, into which all of u's went.
bool finds(int u, int first, int size, int begin, int end, out int X) {
    X = size > 1 ? begin : u - first;
    int p = u - first - X;
    return X >= begin && X < end && p >= 0 && p < size;
}

void invocation(ivec2 at, int slice, int image) {
    int X, Y;
    bool found_x = finds(at.x, first_x, size_x, begin_x, end_x, X);
    bool found_y = finds(at.y, first_y, size_y, begin_y, end_y, Y);
#ifdef SPLAT
    vec4 g = gradient_clamp(X, Y, 0, image).xxxx;
#else
    vec4 g = gradient_clamp(X, Y, slice, image);
#endif
    g = found_x && found_y ? scale * g / divisor : vec4(0.0);
    store_destination(at.x, at.y, slice, image, g);
}
