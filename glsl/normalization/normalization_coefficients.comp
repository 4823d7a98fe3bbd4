// Columns 0 to 3 of the coefficients of slice at.x, group at.y: mean,
// scale = gamma / sqrt(variance + epsilon), beta, 1 / sqrt(variance + epsilon)
void invocation(ivec3 at) {
    vec4 column[4];
    for (int i = 0; i < 4; i++) {
        int c = min(at.x * 4 + i, coefficients_channels - 1);
        int of_group = at.y * coefficients_channels + c;
        float rate = 1.0 / sqrt(variance[of_group] + epsilon);
        column[0][i] = mean[of_group];
        column[1][i] = gamma[c] * rate;
        column[2][i] = beta[c];
        column[3][i] = rate;
    }
    for (int i = 0; i < 4; i++)
        store_coefficients(i, 0, at.x, at.y, column[i]);
}
