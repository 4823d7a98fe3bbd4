// out(y, x) = sum over k, from first to last - 1, of left_factor(y, k) right_factor(x, k)
// A sum is taken in runs of 64, so that its error grows with their length and number and not with
// the product of the two.
// needs matrix/factors.glsl
void invocation(ivec2 at, int slice, int image) {
    vec4 sum = vec4(0.0);
    int end = counts(at) ? last : first;
    for (int start = first; start < end; start += 64) {
        vec4 run = vec4(0.0);
        for (int k = start; k < min(start + 64, end); k++)
            run += left_factor(at.y, k, slice, image) * right_factor(at.x, k, slice, image);
        sum += run;
    }
    store_destination(at.x, at.y, slice, image, sum);
}
