// Channel (i BLOCK + j) C + c, C the source's, or with CRD  c BLOCK^2 + i BLOCK + j: pixel (i, j) of
// a block of BLOCK by BLOCK.
ivec3 place(ivec3 at) {
#ifdef CRD
    int c = at.x / (BLOCK * BLOCK);
    int number = at.x - c * (BLOCK * BLOCK);
#else
    int number = at.x / source_channels;
    int c = at.x - number * source_channels;
#endif
    int i = number / BLOCK;
    return ivec3(c, at.y * BLOCK + i, at.z * BLOCK + number - i * BLOCK);
}
