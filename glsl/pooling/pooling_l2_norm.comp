// out(X) = sqrt(sum over taps of source^2)
void invocation(ivec3 at) {
    int slice = at.z % destination_slices;
    int image = at.z / destination_slices;
    store_destination(at.x, at.y, slice, image, window_norm(at.x, at.y, slice, image));
}
