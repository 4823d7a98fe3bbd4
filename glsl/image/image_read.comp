// elements[first + n * stride_n + c * stride_c + y * stride_y + x * stride_x]
//     = source(x0 + x, y0 + y, c, n)
// With COUNTS it is a commit by itself, and commits[0] += 1 (record/commit_count.h).
void invocation(ivec2 at, int slice, int image) {
    int first = first_element + image * stride_n + at.y * stride_y + at.x * stride_x;
    vec4 v = source(x0 + at.x, y0 + at.y, slice, image);
    for (int i = 0; i < 4; i++)
        if (slice * 4 + i < channel_count)
            elements[first + (slice * 4 + i) * stride_c] = v[i];
#ifdef COUNTS
    if (at == ivec2(grid_x, grid_y) - 1 && slice == source_slices - 1 && image == source_images - 1)
        commits[0] += 1u;
#endif
}
