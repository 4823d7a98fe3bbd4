// destination = 0, or NaN
#ifdef POISON
#define VALUE vec4(uintBitsToFloat(0x7fc00000u))
#else
#define VALUE vec4(0.0)
#endif
void invocation(ivec2 at, int slice, int image) {
    store_destination(at.x, at.y, slice, image, VALUE);
}
