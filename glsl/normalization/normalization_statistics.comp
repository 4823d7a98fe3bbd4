// mean, M2 of x - pivot over run at.x of slice at.y, group at.z: `span` of the group's `rows` rows,
// counted through its images, into images 2 at.z and 2 at.z + 1.
// BLOCK pixels at a time: their mean, then the squares around it, then a merge. The pivot, a pixel
// of each channel, keeps the digits of values that differ little beside their mean.
// needs pixel_reduction/partial_statistics.glsl
void invocation(ivec3 at) {
    statistics s = statistics(0.0, vec4(0.0), vec4(0.0));
    int first_row = at.z * rows;
    vec4 pivot = source(0, 0, at.y, first_row / image_rows);
    int end = min((at.x + 1) * span, rows);
    for (int row = at.x * span; row < end; row++) {
        int image = (first_row + row) / image_rows;
        int y = first_row + row - image * image_rows;
        for (int left = 0; left < source_width; left += BLOCK) {
            vec4 v[BLOCK];
            vec4 mean = vec4(0.0);
            vec4 m2 = vec4(0.0);
            float n = float(min(BLOCK, source_width - left));
            for (int i = 0; i < BLOCK; i++) {
                v[i] = source(min(left + i, source_width - 1), y, at.y, image) - pivot;
                mean += left + i < source_width ? v[i] : vec4(0.0);
            }
            mean /= n;
            for (int i = 0; i < BLOCK; i++) {
                vec4 d = v[i] - mean;
                m2 += left + i < source_width ? d * d : vec4(0.0);
            }
            merge(s, n, mean, m2);
        }
    }
    store_merged(at.x, 0, at.y, 2 * at.z, s.mean);
    store_merged(at.x, 0, at.y, 2 * at.z + 1, s.m2);
}
