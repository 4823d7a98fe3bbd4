// sums(X, Y) = sum over a square of block x block texels of source, row by row.
// The last pass (LAST, a grid of one pixel) makes the loss of it:
//     (constant + sum) * scale,   or with BY_COUNT divided by the number of weights that are not 0
void invocation(ivec3 at) {
    vec4 sum = vec4(0.0);
    for (int q = 0; q < block; q++) {
        vec4 row = vec4(0.0);
        for (int p = 0; p < block; p++)
            row += source_zero(at.x * block + p, at.y * block + q, 0, at.z);
        sum += row;
    }
#ifdef LAST
    float factor = scale;
#ifdef BY_COUNT
    factor = sum.y > 0.0 ? 1.0 / sum.y : 0.0;
#endif
    sum = vec4((constant + sum.x) * factor, 0.0, 0.0, 0.0);
#endif
    store_sums(at.x, at.y, 0, at.z, sum);
}
