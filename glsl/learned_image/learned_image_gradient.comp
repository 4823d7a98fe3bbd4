// gradient_for_values[(y W + x) C + c] = sum over images n of G(n, c, y, x), BLOCK by BLOCK: a long
// sum of single terms would lose their last bits. Pixels that are no results have 0.
#define BLOCK 32
void invocation(ivec3 at) {
    vec4 sum = vec4(0.0);
    bool counts = at.x >= begin_x && at.x < end_x && at.y >= begin_y && at.y < end_y;
    for (int first = 0; counts && first < gradient_images; first += BLOCK) {
        vec4 part = vec4(0.0);
        for (int n = first; n < min(first + BLOCK, gradient_images); n++)
            part += gradient(at.x, at.y, at.z, n);
        sum += part;
    }
    int i = (at.y * gradient_width + at.x) * gradient_channels + 4 * at.z;
    for (int c = 0; c < min(4, gradient_channels - 4 * at.z); c++)
#ifdef ACCUMULATE
        gradient_for_values[i + c] += sum[c];
#else
        gradient_for_values[i + c] = sum[c];
#endif
}
