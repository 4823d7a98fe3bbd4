// out(X) = sqrt(sum over taps of source^2)
// needs pooling/window_norm.glsl
void invocation(ivec2 at, int slice, int image) {
    store_destination(at.x, at.y, slice, image, window_norm(at.x, at.y, slice, image));
}
