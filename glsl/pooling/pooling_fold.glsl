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

// With NUMBERS taps come together as numbers first, by a fifth of the operations, which may lose a
// NaN and the sign of a zero. May a NaN be among taps of a sum, they do by `fold`: no sum loses one.
#if defined(LARGEST) && defined(NUMBERS)
vec4 fold_numbers(vec4 folded, vec4 v) { return max(folded, v); }
bool may_be_nan(vec4 sum) { return may_have_nan(sum); }
#else
#define fold_numbers fold
bool may_be_nan(vec4 sum) { return false; }
#endif
