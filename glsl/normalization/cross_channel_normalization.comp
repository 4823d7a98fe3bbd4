// out(k) = X(k) * L(k)^-beta,   L = delta + (alpha / N) * sum of squares over the channels around k
// needs normalization/scale_power.glsl
// needs normalization/cross_channel.glsl
void invocation(ivec2 at, int slice, int image) {
    int x = first_x + at.x;
    int y = first_y + at.y;
    vec4 v = source_edge(x, y, slice, image);
    store_destination(at.x, at.y, slice, image,
                      v * scale_power(scale_at(x, y, slice, image)));
}
