// out(y, x, c) = values[(y W + x) C + c], the same for every image
// needs lib/four.glsl
void invocation(ivec2 at, int slice, int image) {
    ivec4 c = min(ivec4(slice * 4) + ivec4(0, 1, 2, 3), destination_channels - 1);
    ivec4 i = (at.y * destination_width + at.x) * destination_channels + c;
    store_destination(at.x, at.y, slice, image, FOUR(values, i));
}
