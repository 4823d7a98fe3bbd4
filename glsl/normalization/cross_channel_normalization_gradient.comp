// dX(k) = G(k) * L(k)^-beta - X(k) * sum of U(r) over the channels r whose window holds k
//     U(r) = (2 alpha beta / N) * G(r) * X(r) * L(r)^(-beta - 1), of the pass before
// needs lib/gather.glsl
// needs normalization/scale_power.glsl
// needs normalization/cross_channel.glsl
void invocation(ivec2 at, int slice, int image) {
    int x = at.x + shift_x;
    int y = at.y + shift_y;
    vec4 value = vec4(0.0);
    if (is_seen(x, y) && is_read(x, y)) {
        vec4 sum = vec4(0.0);
        int last = last_slice(slice, BEFORE, terms_slices);
        for (int s = first_slice(slice, AFTER); s <= last; s++)
            sum += neighbours(terms(x - terms_x, y - terms_y, s, image), s, slice, AFTER, BEFORE);
        vec4 power = scale_power(scale_at(x, y, slice, image));
        value = gathered(x, y, slice, image) * power - seen(x, y, slice, image) * sum;
    }
    store_destination(at.x, at.y, slice, image, value);
}
