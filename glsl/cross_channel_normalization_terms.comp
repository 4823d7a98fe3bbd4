// U(r) = (2 alpha beta / N) * G(r) * X(r) * L(r)^(-beta - 1), which dX(k) takes of every channel r
// whose window holds k
void invocation(ivec3 at) {
    int slice = at.z % terms_slices;
    int image = at.z / terms_slices;
    vec4 v = source(at.x, at.y, slice, image) * gathered(at.x, at.y, slice, image);
    vec4 scale = scale_at(at.x, at.y, slice, image);
    store_terms(at.x, at.y, slice, image, v * (slope / scale) * pow_precise(scale, vec4(-beta)));
}
