// destination[i] (+)= source[i]
void invocation(ivec3 at) {
    float value = source[source_offset + at.x];
#ifdef ACCUMULATE
    value += destination[destination_offset + at.x];
#endif
    destination[destination_offset + at.x] = value;
}
