// How the taps of a window come together: by default their sum, with SQUARES that of their squares,
// with LARGEST the largest.
// needs lib/compare.glsl
#ifdef SQUARES
vec4 term(vec4 tap) { return tap * tap; }
#else
vec4 term(vec4 tap) { return tap; }
#endif

#ifdef LARGEST
vec4 fold(vec4 folded, vec4 v) { return larger(folded, v); }
#else
vec4 fold(vec4 folded, vec4 v) { return folded + v; }
#endif
