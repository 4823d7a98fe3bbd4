// What a pass calls so that another may reduce the vectors that it stores. With EPILOGUE a library of
// the other's defines
//     struct reduced                    what a lane keeps of one slice
//     reduced empty_reduced()
//     void reduce_value(inout reduced, vec4 value, ivec2 pixel, int slice, int image)
//     void write_run(int lane, int step, int run, int slice, reduced)
//                                       for all lanes at a time: those that are a multiple of
//                                       `step` apart have pixels of one slice, which lane 0 ..
//                                       step - 1 have as `slice`
//     void finish_reduction(int lane, int step, int slice)
//                                       then, of the group's first slice:
//                                       pixel_reduction/finish_epilogue.glsl
// Without it they do nothing.
#ifdef EPILOGUE
#define BEGIN_REDUCTION(c)                          c = empty_reduced()
#define REDUCE_VALUE(c, value, pixel, slice, image) reduce_value(c, value, pixel, slice, image)
#define WRITE_RUN(lane, step, run, slice, c)        write_run(lane, step, run, slice, c)
#define FINISH_REDUCTION(lane, step, slice)         finish_reduction(lane, step, slice)

// The run of a group that makes a tile: row after row of an image's tiles, image after image.
int run_of_tile(ivec2 tile, int image) {
    ivec3 size = grid_size(); // LANES invocations wide and one high for each tile
    return (image * size.y + tile.y) * (size.x / LANES) + tile.x;
}
#else
#define BEGIN_REDUCTION(c)
#define REDUCE_VALUE(c, value, pixel, slice, image)
#define WRITE_RUN(lane, step, run, slice, c)
#define FINISH_REDUCTION(lane, step, slice)
#endif
