// Pixel (i, j) of a block of BLOCK by BLOCK, channel c: source channel (i BLOCK + j) C + c of the C
// that results have, or with CRD  c BLOCK^2 + i BLOCK + j.
ivec3 place(ivec3 at) {
    ivec2 block = at.yz / BLOCK;
    ivec2 inner = at.yz - block * BLOCK;
    int number = inner.x * BLOCK + inner.y;
#ifdef CRD
    return ivec3(at.x * (BLOCK * BLOCK) + number, block);
#else
    return ivec3(number * destination_channels + at.x, block);
#endif
}
