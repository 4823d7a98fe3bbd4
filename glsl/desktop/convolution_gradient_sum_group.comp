// dW, db (+)= sum over chunks of the partial sums that the groups wrote, as
// convolution/convolution_gradient_sum.comp, where there are many: each of SPLITS invocations adds
// up every SPLITS-th chunk, and one of them, in their order, what all have.
// A group of 128 owns four numbers of each of OWNED elements.
// needs desktop/add_element.glsl
#define OWNED  8
#define SPLITS 16

shared vec4 kept[OWNED * SPLITS];

vec4 sum_of_split(int split, int element, int k) {
    vec4 sum = vec4(0.0);
    for (int chunk = split; chunk < chunk_count; chunk += SPLITS)
        sum += partial_sums[(chunk * slice_total + k) * (element_count + 1) + element];
    return sum;
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int split = lane / OWNED;
    int element = (at.x - lane) / SPLITS + lane - split * OWNED;
    kept[lane] = sum_of_split(split, min(element, element_count), at.y);
    barrier();
    if (split > 0 || element > element_count)
        return;
    vec4 sum = kept[lane];
    for (int i = 1; i < SPLITS; i++)
        sum += kept[i * OWNED + lane];
    add_element(at.y, element, sum);
}
