// Columns 0 to 3 of the coefficients of a slice of a group, from the vectors: mean,
// scale = gamma / sqrt(variance + epsilon), beta, 1 / sqrt(variance + epsilon)
// needs lib/four.glsl
void store_coefficients(int x, int y, int slice, int image, vec4 v);

void make_coefficients(int slice, int group) {
    ivec4 c = min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), coefficients_channels - 1);
    ivec4 of_group = c + group * coefficients_channels;
    vec4 rate = 1.0 / sqrt(FOUR(variance, of_group) + epsilon);
    store_coefficients(0, 0, slice, group, FOUR(mean, of_group));
    store_coefficients(1, 0, slice, group, FOUR(gamma, c) * rate);
#ifndef BETA_APART
    store_coefficients(2, 0, slice, group, FOUR(beta, c));
#endif
    store_coefficients(3, 0, slice, group, rate);
}
