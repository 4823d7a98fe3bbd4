// Last-block reduction: each work group of a slice writes its run to "block_results" and counts
// itself, and the one that is counted last merges the runs of all. Which one that is may differ
// between executions; what it reads, and in which order it merges, does not.
//     NUMBERS           that a run leaves of a slice: vectors of four, and what is left; not
//                       defined where runs are written elsewhere
//     block_results     first the counters, one for each slice of each group of images, 0 before and
//                       after; then the runs, those of a number side by side
shared uint blocks_before;

#ifdef NUMBERS
int block_result_at(int run, int slice, int group, int number) {
    int row = (group * block_slices + slice) * NUMBERS + number;
    return block_counters + row * runs + run;
}

void leave_number(int run, int slice, int group, int number, float v) {
    block_results[block_result_at(run, slice, group, number)] = floatBitsToUint(v);
}

float number_left(int run, int slice, int group, int number) {
    return uintBitsToFloat(block_results[block_result_at(run, slice, group, number)]);
}

void leave(int run, int slice, int group, int quantity, vec4 v) {
    for (int i = 0; i < 4; i++)
        leave_number(run, slice, group, 4 * quantity + i, v[i]);
}

vec4 left_by(int run, int slice, int group, int quantity) {
    vec4 v;
    for (int i = 0; i < 4; i++)
        v[i] = number_left(run, slice, group, 4 * quantity + i);
    return v;
}
#endif

// For all lanes, behind what the first `leavers` left. Others wait for no memory: what they have
// stored is not read here, and a GPU empties its caches when it is told to wait.
bool is_last_block(int lane, int leavers, int slice, int group) {
    int counter = group * block_slices + slice;
    if (lane < leavers)
        memoryBarrierBuffer();
    barrier();
    if (lane == 0)
        blocks_before = atomicAdd(block_results[counter], 1u);
    barrier();
    bool last = blocks_before == uint(runs) - 1u;
    if (last && lane == 0)
        block_results[counter] = 0u;
    if (last)
        memoryBarrierBuffer();
    return last;
}
