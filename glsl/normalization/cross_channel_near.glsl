// Sums over neighbouring channels of a pixel whose slices are gone through one by one, `run` of them
// by an invocation: at.z counts runs, of all images. KERNEL_SIZE is at most 9, so that windows reach
// no further than the slices beside.
const int BEFORE = KERNEL_SIZE / 2;
const int AFTER = (KERNEL_SIZE - 1) / 2;

// Sums over channels k + low .. k + high of the channels k of slice b, between slices a and c. From
// four terms on the windows of all four channels share some: what is left and right of these is
// added up once.
vec4 sums_near(vec4 a, vec4 b, vec4 c, const int low, const int high) {
    float near[12] = float[12](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w);
    vec4 sum = vec4(0.0);
    if (high - low >= 3) {
        float left = near[5 + low] + near[6 + low];
        float right = near[5 + high] + near[6 + high];
        float shared_by_all = near[7 + low];
        for (int i = 8 + low; i <= 4 + high; i++)
            shared_by_all += near[i];
        sum = vec4(near[4 + low] + left, left + near[5 + high], near[6 + low] + right,
                   right + near[7 + high]);
        return sum + shared_by_all;
    }
    for (int d = low; d <= high; d++)
        sum += vec4(near[4 + d], near[5 + d], near[6 + d], near[7 + d]);
    return sum;
}

// L = delta + (alpha / N) * sum of squares over the window.
vec4 scale_near(vec4 a, vec4 b, vec4 c) {
    return delta + alpha_over_n * sums_near(a * a, b * b, c * c, -BEFORE, AFTER);
}

bool is_slice(int slice, int slices) { return slice >= 0 && slice < slices; }
