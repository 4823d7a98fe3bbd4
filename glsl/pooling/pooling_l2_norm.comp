// out(X) = sqrt(sum over taps of source^2)
// needs pooling/window_norm.glsl
void invocation(ivec3 at) {
    int slice = at.z % destination_slices;
    int image = at.z / destination_slices;
    store_destination(at.x, at.y, slice, image, window_norm(at.x, at.y, slice, image));
}
