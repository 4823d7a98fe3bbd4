// Columns 4 and 5 of the coefficients of slice at.x, group at.y, what the dependence of mean and
// variance on the source takes away:
//     dX = scale (g' - shift - tilt (x - mean)),   r = 1 / sqrt(variance + epsilon)
//     tilt = r gradient_for_gamma / M,   shift = gradient_for_beta / M
// The differences come first: where a group has one pixel, or all are equal, they are exactly 0.
void invocation(ivec3 at) {
    vec4 tilt, shift;
    for (int i = 0; i < 4; i++) {
        int c = min(at.x * 4 + i, coefficients_channels - 1) + at.y * coefficients_channels;
        tilt[i] = gradient_for_gamma[c] / samples / sqrt(variance[c] + epsilon);
        shift[i] = gradient_for_beta[c] / samples;
    }
    store_coefficients(4, 0, at.x, at.y, tilt);
    store_coefficients(5, 0, at.x, at.y, shift);
}
