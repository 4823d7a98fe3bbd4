// What normalization/gradient_coefficients.glsl says, of slice at.x, group at.y.
// needs normalization/gradient_coefficients.glsl
void invocation(ivec3 at) { make_coefficients(at.x, at.y); }
