// merged(run) = sum of the chunks of a run, in their order: the first round of a sum of many
// chunks.
void invocation(ivec3 at) {
    int end = min((at.y + 1) * chunks_per_run, chunk_count);
    vec4 sum = vec4(0.0);
    for (int chunk = at.y * chunks_per_run; chunk < end; chunk++)
        sum += partial_sums[chunk * number_count + at.x];
    merged[at.y * number_count + at.x] = sum;
}
