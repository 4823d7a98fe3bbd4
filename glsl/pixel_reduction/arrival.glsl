// Where the groups of a slice finish by themselves: each leaves its run in "arrivals", and the last
// to arrive has all of them before it. Which one that is may differ from run to run; what it reads,
// and in which order it merges, does not.
//     NUMBERS           that a run leaves of a slice: vectors of four, and what is left; not
//                       defined where runs leave what they do elsewhere
//     arrivals          first the arrivals that are counted, of each slice of each group of images,
//                       0 before and after; then what runs left, those of a number side by side
shared uint arrived_before;

#ifdef NUMBERS
int arrival_place(int run, int slice, int group, int number) {
    int row = (group * arrival_slices + slice) * NUMBERS + number;
    return arrival_counters + row * runs + run;
}

void leave_number(int run, int slice, int group, int number, float v) {
    arrivals[arrival_place(run, slice, group, number)] = floatBitsToUint(v);
}

float number_left(int run, int slice, int group, int number) {
    return uintBitsToFloat(arrivals[arrival_place(run, slice, group, number)]);
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
bool arrives_last(int lane, int leavers, int slice, int group) {
    int counter = group * arrival_slices + slice;
    if (lane < leavers)
        memoryBarrierBuffer();
    barrier();
    if (lane == 0)
        arrived_before = atomicAdd(arrivals[counter], 1u);
    barrier();
    bool last = arrived_before == uint(runs) - 1u;
    if (last && lane == 0)
        arrivals[counter] = 0u;
    if (last)
        memoryBarrierBuffer();
    return last;
}
