// destination = 0
void invocation(ivec2 at, int slice, int image) {
    store_destination(at.x, at.y, slice, image, vec4(0.0));
}
