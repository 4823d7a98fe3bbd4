// out(X) = source(floor(U / factor)),   U the column of X in the whole enlarged image
// needs upsampling/upsampling.glsl
void invocation(ivec2 at, int slice, int image) {
    ivec2 U = enlarged(at);
    ivec2 i = position(U, ivec2(source_width, source_height)) / ivec2(divisor_x, divisor_y);
    vec4 value = source(i.x, i.y, slice, image);
#ifndef EDGE_CLAMP
    value = is_enlarged(U) ? value : vec4(0.0);
#endif
    store_destination(at.x, at.y, slice, image, value);
}
