// destination(x0 + x, y0 + y, c, n)
//     = elements[first + n * stride_n + c * stride_c + y * stride_y + x * stride_x]
// With BYTES an element is a byte of the words of the buffer, and stands for that many 255ths.
float element(int i) {
#ifdef BYTES
    return float(elements[i >> 2] >> uint((i & 3) * 8) & 255u) / 255.0;
#else
    return elements[i];
#endif
}

void invocation(ivec2 at, int slice, int image) {
    int first = first_element + image * stride_n + at.y * stride_y + at.x * stride_x;
    vec4 v = vec4(0.0);
    for (int i = 0; i < 4; i++)
        if (slice * 4 + i < channel_count)
            v[i] = element(first + (slice * 4 + i) * stride_c);
    store_destination(x0 + at.x, y0 + at.y, slice, image, v);
}
