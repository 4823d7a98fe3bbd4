// Sums over neighbouring channels, KERNEL_SIZE of them. The window of channel k holds the channels
//     k - BEFORE .. k + AFTER
//     BEFORE = floor(KERNEL_SIZE / 2),   AFTER = floor((KERNEL_SIZE - 1) / 2)
// and the windows that hold channel k are those of channels k - AFTER .. k + BEFORE.
const int BEFORE = KERNEL_SIZE / 2;
const int AFTER = (KERNEL_SIZE - 1) / 2;

int first_slice(int slice, int below) { return max(slice * 4 - below, 0) / 4; }
int last_slice(int slice, int above, int slices) {
    return min((slice * 4 + 3 + above) / 4, slices - 1);
}

// What the channels of slice `from` add to the sums over k - below .. k + above, k in `slice`.
vec4 neighbours(vec4 value, int from, int slice, int below, int above) {
    vec4 sum = vec4(0.0);
    for (int j = 0; j < 4; j++) {
        ivec4 distance = from * 4 + j - (slice * 4 + ivec4(0, 1, 2, 3));
        bvec4 low = greaterThanEqual(distance, ivec4(-below));
        bvec4 high = lessThanEqual(distance, ivec4(above));
        sum += mix(vec4(0.0), mix(vec4(0.0), vec4(value[j]), low), high);
    }
    return sum;
}

// L = delta + (alpha / N) * sum of squares over the window, of the pixel of "source" at (x, y).
vec4 scale_at(int x, int y, int slice, int image) {
    vec4 sum = vec4(0.0);
    int last = last_slice(slice, AFTER, source_slices);
    for (int s = first_slice(slice, BEFORE); s <= last; s++) {
        vec4 v = source_edge(x, y, s, image);
        sum += neighbours(v * v, s, slice, BEFORE, AFTER);
    }
    return delta + alpha_over_n * sum;
}
