// merged(j) = sum of partial over block j of BLOCK_X by BLOCK_Y
void invocation(ivec2 at, int slice, int image) {
    int left = at.x * BLOCK_X;
    int top = at.y * BLOCK_Y;
    vec4 sum = vec4(0.0);
    for (int y = top; y < min(top + BLOCK_Y, partial_height); y++)
        for (int x = left; x < min(left + BLOCK_X, partial_width); x++)
            sum += partial(x, y, slice, image);
    store_merged(at.x, at.y, slice, image, sum);
}
