// As normalization/normalization_statistics.comp, a run to a group: its LANES invocations share the
// pixels of run at.x / LANES, each BLOCK at a time, and merge what they have in pairs.
// needs pixel_reduction/partial_statistics.glsl
shared float counts[LANES];
shared vec4 means[LANES], m2s[LANES];

// mean, M2 of pixel i and the others of its block that there are, LANES apart.
void merge_block(inout statistics s, int i, int count, int first_row, int slice, vec4 pivot) {
    vec4 v[BLOCK];
    vec4 mean = vec4(0.0), m2 = vec4(0.0);
    float n = 0.0;
    for (int b = 0; b < BLOCK; b++) {
        int pixel = min(i + b * LANES, count - 1);
        int line = pixel / row_pixels;
        int row = first_row + line;
        int image = row / image_rows;
        v[b] = source(pixel - line * row_pixels, row - image * image_rows, slice, image) - pivot;
        mean += i + b * LANES < count ? v[b] : vec4(0.0);
        n += i + b * LANES < count ? 1.0 : 0.0;
    }
    mean /= n;
    for (int b = 0; b < BLOCK; b++) {
        vec4 d = v[b] - mean;
        m2 += i + b * LANES < count ? d * d : vec4(0.0);
    }
    merge(s, n, mean, m2);
}

// What the lanes have, in pairs; to the first.
void merge_lanes(int lane, statistics own) {
    counts[lane] = own.n;
    means[lane] = own.mean;
    m2s[lane] = own.m2;
    barrier();
    for (int apart = LANES / 2; apart > 0; apart /= 2) {
        if (lane < apart && counts[lane + apart] > 0.0) {
            statistics s = statistics(counts[lane], means[lane], m2s[lane]);
            merge(s, counts[lane + apart], means[lane + apart], m2s[lane + apart]);
            counts[lane] = s.n;
            means[lane] = s.mean;
            m2s[lane] = s.m2;
        }
        barrier();
    }
}

#ifdef ARRIVES
// The last group merges what all have left.
void finish(int lane, int run, int slice, int group) {
    if (lane == 0) {
        leave(run, slice, group, 0, means[0]);
        leave(run, slice, group, 1, m2s[0]);
    }
    if (!arrives_last(lane, slice, group))
        return;
    int of = min(lane, runs - 1);
    merge_lanes(lane, statistics(lane < runs ? pixels_of(of) : 0.0, left_by(of, slice, group, 0),
                                 left_by(of, slice, group, 1)));
    if (lane == 0)
        finish_statistics(slice, group, source_channels, statistics(counts[0], means[0], m2s[0]));
}
#endif

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), run = at.x / LANES;
    int first_row = run * span;
    int count = (min(first_row + span, rows) - first_row) * row_pixels;
    vec4 pivot = source(0, 0, at.y, at.z * rows / image_rows);
    statistics s = statistics(0.0, vec4(0.0), vec4(0.0));
    for (int i = lane; i < count; i += BLOCK * LANES)
        merge_block(s, i, count, at.z * rows + first_row, at.y, pivot);
    merge_lanes(lane, s);
#ifdef ARRIVES
    finish(lane, run, at.y, at.z);
#else
    if (lane > 0)
        return;
    store_merged(run, 0, at.y, 2 * at.z, means[0]);
    store_merged(run, 0, at.y, 2 * at.z + 1, m2s[0]);
#endif
}
