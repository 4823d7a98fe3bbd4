// Images are normalised in groups, each with statistics of its own: all of them together, or with
// PER_IMAGE each by itself. "coefficients" has an image for each group and columns
//     0 mean,   1 scale = gamma / sqrt(variance + epsilon),   2 beta
//     3 1 / sqrt(variance + epsilon)
//     4 tilt and 5 shift, which normalization/normalization_gradient_coefficients.comp explains
#ifdef PER_IMAGE
int group_of(int image) { return image; }
#else
int group_of(int image) { return 0; }
#endif

vec4 mean_of(int slice, int image) { return coefficients(0, 0, slice, group_of(image)); }
vec4 scale_of(int slice, int image) { return coefficients(1, 0, slice, group_of(image)); }
vec4 beta_of(int slice, int image) { return coefficients(2, 0, slice, group_of(image)); }
vec4 rate_of(int slice, int image) { return coefficients(3, 0, slice, group_of(image)); }
vec4 tilt_of(int slice, int image) { return coefficients(4, 0, slice, group_of(image)); }
vec4 shift_of(int slice, int image) { return coefficients(5, 0, slice, group_of(image)); }
