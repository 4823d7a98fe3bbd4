// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): ten rounds, each
//     c = (high(M1 c.z) ^ c.y ^ k.x, low(M1 c.z), high(M0 c.x) ^ c.w ^ k.y, low(M0 c.x))
// between which the key grows by two constants.
uvec4 philox(uvec4 counter, uvec2 key) {
    for (int round = 0; round < 10; round++) {
        uvec2 high;
        uvec2 low;
        umulExtended(uvec2(0xD2511F53u, 0xCD9E8D57u), counter.xz, high, low);
        counter = uvec4(high.y ^ counter.y ^ key.x, low.y, high.x ^ counter.w ^ key.y, low.x);
        key += uvec2(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}
