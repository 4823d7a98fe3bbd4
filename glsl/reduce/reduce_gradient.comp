// dX(u) = scale / divisor * G(X) for the result X that pixel u went into, 0 where there is none
// Of an extreme (INDICES) it is G(X) where u is the one of its values that indices(X) names, else 0.
// Result X was made of pixels first + X + p, p < size, one axis or none of them longer than 1.
// With SPLAT the result has one channel, into which all of u's went.
bool finds(int u, int first, int size, int begin, int end, out int X) {
    X = size > 1 ? begin : u - first;
    int p = u - first - X;
    return X >= begin && X < end && p >= 0 && p < size;
}

#ifdef INDICES
// Which of u's channels are the extreme of result X, of which u is value `p`.
bvec4 are_extreme(int X, int Y, int slice, int image, int p) {
    X = clamp(X, 0, gradient_width - 1);
    Y = clamp(Y, 0, gradient_height - 1);
#ifdef SPLAT
    float index = indices[(image * gradient_height + Y) * gradient_width + X];
    return equal(vec4(index), float(4 * slice) + vec4(0.0, 1.0, 2.0, 3.0));
#else
    int layer = image * gradient_slices + slice;
    return equal(indices[(layer * gradient_height + Y) * gradient_width + X], vec4(p));
#endif
}
#endif

void invocation(ivec2 at, int slice, int image) {
    int X, Y;
    bool found_x = finds(at.x, first_x, size_x, begin_x, end_x, X);
    bool found_y = finds(at.y, first_y, size_y, begin_y, end_y, Y);
#ifdef SPLAT
    vec4 g = gradient_clamp(X, Y, 0, image).xxxx;
#else
    vec4 g = gradient_clamp(X, Y, slice, image);
#endif
#ifdef INDICES
    int p = at.x - first_x - X + at.y - first_y - Y;
    g = mix(vec4(0.0), g, are_extreme(X, Y, slice, image, p));
#else
    g = scale * g / divisor;
#endif
    store_destination(at.x, at.y, slice, image, found_x && found_y ? g : vec4(0.0));
}
