// dX(i) = sum over r < repeats of G(element(i) + sum(d_k(r) * repeat_step_k));   0 where i is unread
// d_k are the digits of r by repeat_radix_k, as of i in slice/place_strided.glsl, which has element_of.
// Long sums are made of runs of 32, as in reduce/reduce.comp. WHOLE_SLICES: four channels of one
// texel come from one texel each.
// needs slice/texel_of.glsl
#ifdef WHOLE_SLICES
#define NUMBERS vec4
vec4 numbers(ivec3 p, int image) { return texel_of(p, image); }
#else
#define NUMBERS float
float numbers(ivec3 p, int image) { return texel_of(p, image)[p.x & 3]; }
#endif

int repeated(int r) {
    int to = 0;
    bool is_read;
#if REPEATS > 2
    take(r, to, is_read, repeats, repeat_radix_2, repeat_step_2);
#endif
#if REPEATS > 1
    take(r, to, is_read, repeats, repeat_radix_1, repeat_step_1);
#endif
    return to + r * repeat_step_0;
}

NUMBERS sum_of(ivec3 at, int image) {
    NUMBERS sum = NUMBERS(0.0);
    int first = element_of(at);
    int count = first < 0 ? 0 : repeats;
    for (int start = 0; start < count; start += 32) {
        int end = min(start + 32, count);
        NUMBERS run = NUMBERS(0.0);
        for (int r = start; r < end; r++)
            run += numbers(place_of(first + repeated(r)), image);
        sum += run;
    }
    return sum;
}

void invocation(ivec2 at, int slice, int image) {
#ifdef WHOLE_SLICES
    vec4 v = sum_of(ivec3(4 * slice, at.y, at.x), image);
#else
    vec4 v = vec4(0.0);
    for (int i = 0; i < 4; i++)
        v[i] = sum_of(ivec3(4 * slice + i, at.y, at.x), image);
#endif
    store_destination(at.x, at.y, slice, image, v);
}
