// destination(x0 + x, y0 + y, c, n)
//     = elements[first + n * stride_n + c * stride_c + y * stride_y + x * stride_x]
// With BYTES an element is a byte of the words of the buffer, and stands for that many 255ths. With
// CLASSES it is the channel that is 1, all others being 0: all are where it is NO_CLASS, and a NaN
// where there is no such channel.
#ifdef CLASSES
const uint NO_CLASS = 0xffffffffu;

vec4 texel(int first, int slice) {
    uint label = elements[first];
    if (label >= uint(channel_count) && label != NO_CLASS)
        return uintBitsToFloat(uvec4(0x7fc00000u));
    uvec4 channel = uvec4(slice * 4) + uvec4(0, 1, 2, 3);
    return vec4(equal(channel, uvec4(label)));
}
#else
float element(int i) {
#ifdef BYTES
    return float(elements[i >> 2] >> uint((i & 3) * 8) & 255u) / 255.0;
#else
    return elements[i];
#endif
}

vec4 texel(int first, int slice) {
    vec4 v = vec4(0.0);
    for (int i = 0; i < 4; i++)
        if (slice * 4 + i < channel_count)
            v[i] = element(first + (slice * 4 + i) * stride_c);
    return v;
}
#endif

void invocation(ivec2 at, int slice, int image) {
    int first = first_element + image * stride_n + at.y * stride_y + at.x * stride_x;
    store_destination(x0 + at.x, y0 + at.y, slice, image, texel(first, slice));
}
