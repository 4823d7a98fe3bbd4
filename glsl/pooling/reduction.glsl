// How what two columns or rows of a window's taps come to becomes one: the larger of MAX, else the sum.
// needs lib/compare.glsl
#ifdef MAX
vec4 reduce(vec4 reduced, vec4 v) { return larger(reduced, v); }
#else
vec4 reduce(vec4 reduced, vec4 v) { return reduced + v; }
#endif
