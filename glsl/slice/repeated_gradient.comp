// dX(i) = sum over r < repeats of G(element(i) + sum(d_k(r) * repeat_step_k));   0 where i is unread
// d_k are the digits of r by repeat_radix_k, as of i in slice/place_strided.glsl, which has element_of.
// Long sums are made of runs of 32, and 32 of those are added up before the next: so the error grows with
// 32 + 32 + repeats / 1024. WHOLE_SLICES: four channels of one texel come from one texel each.
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
    NUMBERS sum = NUMBERS(0.0), runs = NUMBERS(0.0), run = NUMBERS(0.0);
    int first = element_of(at);
    int count = first < 0 ? 0 : repeats;
    for (int r = 0; r < count; r++) {
        run += numbers(place_of(first + repeated(r)), image);
        if ((r & 31) == 31) {
            runs += run;
            run = NUMBERS(0.0);
        }
        if ((r & 1023) == 1023) {
            sum += runs;
            runs = NUMBERS(0.0);
        }
    }
    return sum + (runs + run);
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
