// Columns 4 and 5 of the coefficients, what the dependence of mean and variance on the source adds:
//     dX = scale g' + tilt (x - mean) + shift,   r = 1 / sqrt(variance + epsilon)
//     tilt = -gamma r^2 gradient_for_gamma / M,   shift = -gamma r gradient_for_beta / M
void invocation(ivec3 at) {
    vec4 tilt, shift;
    for (int i = 0; i < 4; i++) {
        int c = min(at.x * 4 + i, coefficients_channels - 1);
        float rate = 1.0 / sqrt(variance[c] + epsilon);
        tilt[i] = -gamma[c] * rate * (rate * (gradient_for_gamma[c] / samples));
        shift[i] = -gamma[c] * rate * (gradient_for_beta[c] / samples);
    }
    store_coefficients(4, 0, at.x, 0, tilt);
    store_coefficients(5, 0, at.x, 0, shift);
}
