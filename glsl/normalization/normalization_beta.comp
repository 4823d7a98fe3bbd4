// Column 2 of the coefficients of slice at.x, group at.y: beta. normalization/coefficients.glsl has the
// others.
// needs lib/four.glsl
void invocation(ivec3 at) {
    ivec4 c = min(ivec4(at.x * 4) + ivec4(0, 1, 2, 3), coefficients_channels - 1);
    store_coefficients(2, 0, at.x, at.y, FOUR(beta, c));
}
