// U(r) = (2 alpha beta / N) * G(r) * X(r) * L(r)^(-beta - 1), which dX(k) takes of every channel r
// whose window holds k; of the source pixels from (terms_x, terms_y) on
// needs lib/gather.glsl
// needs normalization/scale_power.glsl
// needs normalization/cross_channel.glsl
void invocation(ivec2 at, int slice, int image) {
    int x = at.x + terms_x;
    int y = at.y + terms_y;
    vec4 v = seen(x, y, slice, image) * gathered(x, y, slice, image);
    vec4 scale = scale_at(x, y, slice, image);
    store_terms(at.x, at.y, slice, image, v * (decline / scale) * scale_power(scale));
}
