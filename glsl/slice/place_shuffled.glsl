// Channel k GROUPS + q is channel q span + k of the source, span = C / GROUPS.
ivec3 place(ivec3 at) {
    int k = at.x / GROUPS;
    return ivec3((at.x - k * GROUPS) * span + k, at.yz);
}
