// The last group merges what all have left. A library of an epilogue makes
//     collected runs_collected(int first, int apart, int slice)
//                                       what runs first, first + apart, ... left of a slice
//     void merge_collected(int lane, int step, inout collected)
//                                       of lanes that are a multiple of `step` apart: the first
//                                       `step` have all
//     void store_collected(int slice, collected)
//     GROUP_SLICES   of a work group, a power of two
// needs pixel_reduction/arrival.glsl

// Lanes are numbered anew, so that those beside each other read runs of one slice.
void finish_collected(int lane, int step, int slice) {
    if (!arrives_last(lane, step, slice, 0))
        return;
    const int apart = LANES / GROUP_SLICES;
    int own = lane / apart, first = lane % apart;
    int of = min(slice + own, destination_slices - 1);
    collected c = runs_collected(first, apart, of);
    merge_collected(first * GROUP_SLICES + own, GROUP_SLICES, c);
    if (first == 0 && slice + own < destination_slices)
        store_collected(of, c);
}
