// The last block merges the runs of all. A library of an epilogue defines
//     reduced read_runs(int first, int apart, int slice)
//                                       what runs first, first + apart, ... left of a slice
//     void merge_reduced(int lane, int step, inout reduced)
//                                       of lanes that are a multiple of `step` apart: the first
//                                       `step` have all
//     void store_reduced(int slice, reduced)
//     GROUP_SLICES   of a work group, a power of two
// needs pixel_reduction/last_block.glsl

// Lanes are renumbered, so that those beside each other read runs of one slice.
void finish_reduction(int lane, int step, int slice) {
    if (!is_last_block(lane, step, slice, 0))
        return;
    const int apart = LANES / GROUP_SLICES;
    int own = lane / apart, first = lane % apart;
    int of = min(slice + own, destination_slices - 1);
    reduced c = read_runs(first, apart, of);
    merge_reduced(first * GROUP_SLICES + own, GROUP_SLICES, c);
    if (first == 0 && slice + own < destination_slices)
        store_reduced(of, c);
}
