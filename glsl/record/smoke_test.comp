// found = the first number of the image
void invocation(ivec3 at) { found[0] = source(0, 0, 0, 0).x; }
