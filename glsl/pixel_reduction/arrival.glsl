// Where the groups of a slice finish by themselves: each leaves its run in "arrivals", and the last
// to arrive has all of them before it. Which one that is may differ from run to run; what it reads,
// and in which order it merges, does not.
//     QUANTITIES        vectors of four that a run leaves
//     arrivals          first the arrivals that are counted, of each slice of each group of images,
//                       0 before and after; then what runs left
shared uint arrived_before;

int arrival_place(int run, int slice, int group, int quantity) {
    int column = (group * arrival_slices + slice) * runs + run;
    return arrival_counters + (column * QUANTITIES + quantity) * 4;
}

void leave(int run, int slice, int group, int quantity, vec4 v) {
    int place = arrival_place(run, slice, group, quantity);
    for (int i = 0; i < 4; i++)
        arrivals[place + i] = floatBitsToUint(v[i]);
}

vec4 left_by(int run, int slice, int group, int quantity) {
    int place = arrival_place(run, slice, group, quantity);
    return uintBitsToFloat(uvec4(arrivals[place], arrivals[place + 1], arrivals[place + 2],
                                 arrivals[place + 3]));
}

// For all lanes, behind what they left.
bool arrives_last(int lane, int slice, int group) {
    int counter = group * arrival_slices + slice;
    memoryBarrierBuffer();
    barrier();
    if (lane == 0)
        arrived_before = atomicAdd(arrivals[counter], 1u);
    barrier();
    bool last = arrived_before == uint(runs) - 1u;
    if (last && lane == 0)
        arrivals[counter] = 0u;
    memoryBarrierBuffer();
    return last;
}
