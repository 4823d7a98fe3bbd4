// v = 3/4 v + 1, `rounds` times: eight operations a round, whose time is taken. v stays positive,
// which no compiler can know, so nothing is stored and nothing left out.
void invocation(ivec3 at) {
    vec4 v = vec4(at.x);
    for (int i = 0; i < rounds; i++)
        v = v * 0.75 + 1.0;
    if (v.x < 0.0)
        elements[0] = v;
}
