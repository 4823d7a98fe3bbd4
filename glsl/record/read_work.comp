// Reads one of `count` elements in each of `rounds` rounds, another invocation's each time: all invocations
// together read all elements, 16 bytes each, which are more than caches of small GPUs hold. They are
// 0, which no compiler can know, so nothing is stored and nothing left out.
void invocation(ivec3 at) {
    int place = at.x;
    vec4 v = vec4(0.0);
    for (int i = 0; i < rounds; i++) {
        v += elements[place];
        place += 4096;
        place -= place < count ? 0 : count;
    }
    if (v.x < 0.0)
        elements[0] = v;
}
