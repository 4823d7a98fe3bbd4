// destination[i] = source[i]
void invocation(ivec3 at) {
    destination[destination_offset + at.x] = source[source_offset + at.x];
}
