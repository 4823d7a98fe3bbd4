// out(X) = source at the position of X: the pixel there or, with LINEAR, those around it
// needs lib/blend.glsl
// needs upsampling/resize_axis.glsl
void invocation(ivec2 at, int slice, int image) {
    taps x = taps_of(at.x, source_width, ivec3(factor_x, shift_x, divisor_x));
    taps y = taps_of(at.y, source_height, ivec3(factor_y, shift_y, divisor_y));
    vec4 v = source(x.low, y.low, slice, image);
#ifdef LINEAR
    v = blend(v, source(x.high, y.low, slice, image), x.share);
    vec4 below = source(x.low, y.high, slice, image);
    v = blend(v, blend(below, source(x.high, y.high, slice, image), x.share), y.share);
#endif
    store_destination(at.x, at.y, slice, image, v);
}
