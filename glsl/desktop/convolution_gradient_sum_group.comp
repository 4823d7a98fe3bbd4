// dW, db (+)= sum over chunks of the partial sums that the groups left, as
// convolution/convolution_gradient_sum.comp, where there are many: each of SHARES invocations adds
// up every SHARES-th chunk, and one of them, in their order, what all have.
// A group of 128 owns four numbers of each of OWNED elements.
// needs desktop/add_element.glsl
#define OWNED  8
#define SHARES 16

shared vec4 kept[OWNED * SHARES];

vec4 sum_of_share(int share, int element, int k) {
    vec4 sum = vec4(0.0);
    for (int chunk = share; chunk < chunk_count; chunk += SHARES)
        sum += parts[(chunk * slice_total + k) * (element_count + 1) + element];
    return sum;
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int share = lane / OWNED;
    int element = (at.x - lane) / SHARES + lane - share * OWNED;
    kept[lane] = sum_of_share(share, min(element, element_count), at.y);
    barrier();
    if (share > 0 || element > element_count)
        return;
    vec4 sum = kept[lane];
    for (int i = 1; i < SHARES; i++)
        sum += kept[i * OWNED + lane];
    add_element(at.y, element, sum);
}
