// sums(X, Y) = sum over a square of block x block texels of source, row by row.
// The last pass (LAST, a grid of one pixel) makes the loss of it.
// needs loss/loss_of_sums.glsl
void invocation(ivec3 at) {
    vec4 sum = vec4(0.0);
    for (int q = 0; q < block; q++) {
        vec4 row = vec4(0.0);
        for (int p = 0; p < block; p++)
            row += source_zero(at.x * block + p, at.y * block + q, 0, at.z);
        sum += row;
    }
#ifdef LAST
    sum = loss_of(sum);
#endif
    store_sums(at.x, at.y, 0, at.z, sum);
}
