// out(X) = (1 - f) * source(i) + f * source(i + 1),   i + f = the position of X; the same in rows
// Where f is 0 the neighbour does not count, whatever it is.
// needs lib/blend.glsl
// needs upsampling/upsampling.glsl
void invocation(ivec2 at, int slice, int image) {
    ivec2 U = enlarged(at);
    ivec2 divisor = ivec2(divisor_x, divisor_y);
    ivec2 size = ivec2(source_width, source_height);
    ivec2 t = position(U, size);
    ivec2 i = t / divisor;
    vec2 f = vec2(t - i * divisor) / vec2(divisor);
    ivec2 j = min(i + 1, size - 1);
    vec4 top = blend(source(i.x, i.y, slice, image), source(j.x, i.y, slice, image), f.x);
    vec4 bottom = blend(source(i.x, j.y, slice, image), source(j.x, j.y, slice, image), f.x);
    vec4 value = blend(top, bottom, f.y);
#ifndef EDGE_CLAMP
    value = is_enlarged(U) ? value : vec4(0.0);
#endif
    store_destination(at.x, at.y, slice, image, value);
}
