#ifdef KEEPS_FINITE
// A step that loss scaling gives up leaves an average that it would make NaN or infinite.
float moved(float old, float now) {
    return (floatBitsToUint(now) & 0x7fffffffu) < 0x7f800000u ? now : old;
}
#else
float moved(float old, float now) { return now; }
#endif
