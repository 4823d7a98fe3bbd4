// Columns 0 to 3 of the coefficients of a slice of a group, from the vectors: mean,
// scale = gamma / sqrt(variance + epsilon), beta, 1 / sqrt(variance + epsilon)
void store_coefficients(int x, int y, int slice, int image, vec4 v);

void make_coefficients(int slice, int group) {
    vec4 column[4];
    for (int i = 0; i < 4; i++) {
        int c = min(slice * 4 + i, coefficients_channels - 1);
        int of_group = group * coefficients_channels + c;
        float rate = 1.0 / sqrt(variance[of_group] + epsilon);
        column[0][i] = mean[of_group];
        column[1][i] = gamma[c] * rate;
        column[2][i] = beta[c];
        column[3][i] = rate;
    }
    for (int i = 0; i < 4; i++)
        store_coefficients(i, 0, slice, group, column[i]);
}
