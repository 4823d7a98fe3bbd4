// dX(i) = sum over k in starts[i] .. starts[i + 1] - 1 of G(places[k]);   0 where i >= last_start
// places are the numbers of the results, sorted by what they read and then by themselves.
// Long sums are made of runs of 32, and 32 of those are added up before the next: so the error grows
// with 32 + 32 + count / 1024.
// needs slice/texel_of.glsl
float number(int place, int image) {
    ivec3 p = place_of(place);
    return texel_of(p, image)[p.x & 3];
}

float sum_of(int i, int image) {
    float sum = 0.0, runs = 0.0, run = 0.0;
    int first = starts[min(i, last_start)];
    int count = starts[min(i + 1, last_start)] - first;
    for (int k = 0; k < count; k++) {
        run += number(places[first + k], image);
        if ((k & 31) == 31) {
            runs += run;
            run = 0.0;
        }
        if ((k & 1023) == 1023) {
            sum += runs;
            runs = 0.0;
        }
    }
    return sum + (runs + run);
}

void invocation(ivec2 at, int slice, int image) {
    vec4 v = vec4(0.0);
    for (int k = 0; k < 4; k++) {
        int c = min(4 * slice + k, destination_channels - 1);
        v[k] = sum_of((c * destination_height + at.y) * destination_width + at.x, image);
    }
    store_destination(at.x, at.y, slice, image, v);
}
