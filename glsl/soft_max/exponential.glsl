// e^d of d <= 0. As float16 it is 0 unless d > -18: there rounding the product makes an error of 2^-20.
// needs lib/math.glsl
#if defined(FINE_EXP2) && defined(destination_float16)
vec4 exponential(vec4 d) { return exp2(d * 1.44269504); }
#else
vec4 exponential(vec4 d) { return exp_precise(d); }
#endif
