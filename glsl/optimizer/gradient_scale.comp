// gradient *= largest / norm where the norm, the square root of all sums, is more than `largest`; of
// SCALED gradients the sums are those of unscale * gradient, as which it is left. A norm that is NaN
// or infinite makes NaNs: told by its bits, like everything in lib/compare.glsl.
void invocation(ivec3 at) {
    float sum = 0.0;
    for (int i = 0; i < sum_count; i++) {
        sum += sums[i];
    }
    float norm = sqrt(sum);
    bool finite = (floatBitsToUint(sum) & 0x7fffffffu) < 0x7f800000u;
    float factor = norm > largest ? largest / norm : 1.0;
#ifdef SCALED
    factor *= unscale;
#endif
    gradient[at.x] *= finite ? factor : uintBitsToFloat(0x7fc00000u);
}
