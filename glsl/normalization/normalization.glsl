// Images are normalised in groups, each with statistics of its own: all of them together, or with
// PER_IMAGE each by itself. What is needed of a slice of a group,
//     mean,   rate = 1 / sqrt(variance + epsilon),   scale = gamma rate,   beta
//     tilt and shift, which normalization/gradient_coefficients.glsl explains
// comes with VECTORS from the vectors themselves, else from "coefficients", which has an image for
// each group and columns
//     0 mean,   1 scale,   2 beta,   3 rate,   4 tilt,   5 shift
// needs lib/four.glsl
#ifdef PER_IMAGE
int group_of(int image) { return image; }
#else
int group_of(int image) { return 0; }
#endif

#ifdef VECTORS
ivec4 channels_at(int slice) {
    return min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), source_channels - 1);
}

// Where the group's numbers of these channels are.
ivec4 places_at(int slice, int image) {
    return channels_at(slice) + group_of(image) * source_channels;
}

vec4 deviation_of(int slice, int image) {
    return sqrt(FOUR(variance, places_at(slice, image)) + epsilon);
}

vec4 mean_of(int slice, int image) { return FOUR(mean, places_at(slice, image)); }
vec4 rate_of(int slice, int image) { return 1.0 / deviation_of(slice, image); }
vec4 scale_of(int slice, int image) {
    return FOUR(gamma, channels_at(slice)) * rate_of(slice, image);
}
vec4 beta_of(int slice, int image) { return FOUR(beta, channels_at(slice)); }
#ifdef GRADIENT_VECTORS
vec4 tilt_of(int slice, int image) {
    vec4 sum = FOUR(gradient_for_gamma, places_at(slice, image));
    return sum / samples / deviation_of(slice, image);
}
vec4 shift_of(int slice, int image) {
    return FOUR(gradient_for_beta, places_at(slice, image)) / samples;
}
#endif
#else
vec4 mean_of(int slice, int image) { return coefficients(0, 0, slice, group_of(image)); }
vec4 scale_of(int slice, int image) { return coefficients(1, 0, slice, group_of(image)); }
vec4 beta_of(int slice, int image) { return coefficients(2, 0, slice, group_of(image)); }
vec4 rate_of(int slice, int image) { return coefficients(3, 0, slice, group_of(image)); }
vec4 tilt_of(int slice, int image) { return coefficients(4, 0, slice, group_of(image)); }
vec4 shift_of(int slice, int image) { return coefficients(5, 0, slice, group_of(image)); }
#endif
