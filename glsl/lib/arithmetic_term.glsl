// What result pixel (X, Y) adds to the gradient of the source pixel and channel that it reads:
//     term(X) = G(X) * dr/dv(X),   0 where r was clamped (CLAMP_MASK)
//     add, subtract (OPERATION 0)    dr/dv = scale
//     multiply (1)                   dr/dv = scale * other
//     divide by the primary (2)      dr/dv = scale / y
//     divide by the secondary (3)    dr/dv = -quotient / y
// Components beyond the last channel are 0.
vec4 term(int X, int Y, int slice, int image) {
    vec4 g = gradient(X, Y, slice, image);
#if defined(CLAMP_MASK) || OPERATION == 3
    int index = result_index(X, Y, slice, image, ivec3(gradient_width, gradient_height, gradient_slices));
#endif
#ifdef CLAMP_MASK
    int within = int(clamp_mask[index]);
    g = mix(vec4(0.0), g, notEqual(ivec4(within) & ivec4(1, 2, 4, 8), ivec4(0)));
#endif
#if OPERATION == 0
    return scale * g;
#elif OPERATION == 1
    return scale * g * secondary_operand(X, Y, slice, image);
#else
#if OPERATION == 2
    vec4 value = scale * g / secondary_operand(X, Y, slice, image);
#else
    vec4 value = -g * quotient[index] / secondary_operand(X, Y, slice, image);
#endif
    return mix(vec4(0.0), value, is_channel(slice, gradient_channels));
#endif
}
