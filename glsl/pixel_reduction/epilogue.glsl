// What a pass calls that another may have it do something with the vectors it stores. With EPILOGUE
// a library of the other's makes
//     struct collected                  what a lane keeps of one slice
//     collected nothing_collected()
//     void collect(inout collected, vec4 value, ivec2 pixel, int slice, int image)
//     void leave_collected(int lane, int step, int run, int slice, collected)
//                                       for all lanes at a time: those that are a multiple of
//                                       `step` apart have pixels of one slice, which lane 0 ..
//                                       step - 1 have as `slice`
//     void finish_collected(int lane, int step, int slice)
//                                       then, of the group's first slice:
//                                       pixel_reduction/finish_epilogue.glsl
// Without it there is none of all this.
#ifdef EPILOGUE
#define BEGIN_COLLECTED(c)                         c = nothing_collected()
#define COLLECT(c, value, pixel, slice, image)     collect(c, value, pixel, slice, image)
#define LEAVE_COLLECTED(lane, step, run, slice, c) leave_collected(lane, step, run, slice, c)
#define FINISH_COLLECTED(lane, step, slice)        finish_collected(lane, step, slice)

// The run of a group that makes a tile: row after row of an image's tiles, image after image.
int run_of_tile(ivec2 tile, int image) {
    ivec3 size = grid_size(); // LANES invocations wide and one high for each tile
    return (image * size.y + tile.y) * (size.x / LANES) + tile.x;
}
#else
#define BEGIN_COLLECTED(c)
#define COLLECT(c, value, pixel, slice, image)
#define LEAVE_COLLECTED(lane, step, run, slice, c)
#define FINISH_COLLECTED(lane, step, slice)
#endif
