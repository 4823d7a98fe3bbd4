// The coefficients of a slice of a group for the gradient: columns 0 to 3 as they are and, in 4 and 5,
// what the dependence of mean and variance on the source takes away:
//     dX = scale (g' - shift - tilt (x - mean)),   r = 1 / sqrt(variance + epsilon)
//     tilt = r gradient_for_gamma / M,   shift = gradient_for_beta / M
// The differences come first: where a group has one pixel, or all are equal, they are exactly 0.
//     first_sum, second_sum   gradient_for_beta, gradient_for_gamma
void store_gradient_coefficients(int x, int y, int slice, int image, vec4 v);

void make_coefficients(int slice, int group) {
    vec4 tilt, shift;
    for (int i = 0; i < 4; i++) {
        int c = min(slice * 4 + i, coefficients_channels - 1) + group * coefficients_channels;
        tilt[i] = second_sum[c] / samples / sqrt(variance[c] + epsilon);
        shift[i] = first_sum[c] / samples;
    }
    for (int i = 0; i < 4; i++)
        store_gradient_coefficients(i, 0, slice, group, coefficients(i, 0, slice, group));
    store_gradient_coefficients(4, 0, slice, group, tilt);
    store_gradient_coefficients(5, 0, slice, group, shift);
}
