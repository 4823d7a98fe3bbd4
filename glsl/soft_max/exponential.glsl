// e^d of what is not above 0. A half that is not 0 is of d > -18: there a product that is rounded makes
// an error of 2^-20.
// needs lib/math.glsl
#if defined(FINE_EXP2) && defined(destination_half)
vec4 exponential(vec4 d) { return exp2(d * 1.44269504); }
#else
vec4 exponential(vec4 d) { return exp_precise(d); }
#endif
