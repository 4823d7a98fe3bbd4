// number += 1
void invocation(ivec3 at) { number[0] += 1u; }
