// What one tap adds to a window. Taps outside are left out of averages, whatever the edge mode says.
// needs pooling/pooling_fold.glsl
#ifdef AVERAGE
vec4 tap(int x, int y, int slice, int image) { return source_zero(x, y, slice, image); }
#else
vec4 tap(int x, int y, int slice, int image) { return term(source_edge(x, y, slice, image)); }
#endif
