/* Sizes of work groups: what fits a grid best, within the device's limits. */
#include "record/work_group.h"

#include <string.h>

/* Sizes, powers of two; what covers a grid with the fewest invocations left over is taken, of equals
 * the first. Groups are deep only where a plane has few pixels: neighbours in x and y share cache
 * lines, neighbours in z lie in other layers. */
#define MOST_SIZES 13
static const uint32_t flat[MOST_SIZES][3] = {
    {8, 8, 1},  {16, 4, 1}, {32, 2, 1}, {64, 1, 1}, {4, 16, 1}, {16, 8, 1}, {8, 4, 1},
    {16, 2, 1}, {32, 1, 1}, {4, 8, 1},  {2, 32, 1}, {2, 16, 1}, {1, 32, 1}};
static const uint32_t deep[MOST_SIZES][3] = {{4, 4, 4},  {1, 1, 64}, {2, 1, 32}, {1, 2, 32},
                                             {2, 2, 16}, {4, 2, 8},  {2, 4, 8}};
/* The tall first: a subgroup of 32 that is 4 x 8 fetches and stores texels which lie together in the
 * blocks that textures of GPUs with large groups are made of. 2 x 32 is left out, for windows of
 * neighbours have fewer pixels in common then. Large groups are fewer to start. */
static const uint32_t large[MOST_SIZES][3] = {
    {4, 64, 1}, {8, 32, 1}, {16, 16, 1}, {32, 8, 1}, {64, 4, 1}};

#define LONGEST 64 /* of a group */

/* What is longer than any group, or may be for another batch, counts as one of the longest groups:
 * one group serves all batches, and so one program. */
static uint32_t extent_of(const struct pass *pass, int axis)
{
    return pass->batch_axes >> axis & 1 ? LONGEST : least(pass->grid[axis], LONGEST);
}

static uint64_t covered(const struct pass *pass, const uint32_t size[3])
{
    uint64_t count = 1;
    for (int axis = 0; axis < 3; axis++)
        count *= (uint64_t)groups_of(extent_of(pass, axis), size[axis]) * size[axis];
    return count;
}

static bool is_size(const uint32_t size[3], uint32_t width, uint32_t height)
{
    return size[0] == width && size[1] == height && size[2] == 1;
}

/* The others of `flat` cover every grid nearly as well. */
static bool is_usable(const uint32_t size[3], const struct glcnn_device_traits *traits)
{
    return !traits->miscomputes_8x8 || !(is_size(size, 8, 8) || is_size(size, 4, 16));
}

static const uint32_t *closest(const struct pass *pass, const uint32_t sizes[MOST_SIZES][3],
                               const struct glcnn_device_traits *traits)
{
    const uint32_t *best = NULL;
    for (int i = 0; i < MOST_SIZES && sizes[i][0]; i++)
        if (is_usable(sizes[i], traits) && (!best || covered(pass, sizes[i]) < covered(pass, best)))
            best = sizes[i];
    return best;
}

/* Where a pass gains by them, a quarter of invocations that do nothing costs less. */
static bool takes_large(const struct pass *pass, const struct glcnn_device_traits *traits)
{
    uint64_t wanted = 1;
    for (int axis = 0; axis < 3; axis++)
        wanted *= extent_of(pass, axis);
    return traits->large_groups && pass->prefers_large_groups &&
           covered(pass, closest(pass, large, traits)) <= wanted + wanted / 4;
}

static void choose_local(struct pass *pass, const struct glcnn_device_traits *traits)
{
    bool few = extent_of(pass, 0) * extent_of(pass, 1) < 16;
    const uint32_t *size = closest(pass,
                                   takes_large(pass, traits) ? large
                                   : few                     ? deep
                                                             : flat,
                                   traits);
    memcpy(pass->local, size, sizeof pass->local);
}

static void clamp_local(struct pass *pass, const struct glcnn_limits *limits)
{
    for (int axis = 0; axis < 3; axis++)
        if (pass->local[axis] > limits->work_group_size[axis])
            pass->local[axis] = limits->work_group_size[axis];
    while (pass->local[0] * pass->local[1] * pass->local[2] > limits->work_group_invocations) {
        int largest = pass->local[1] > pass->local[0] ? 1 : 0;
        if (pass->local[2] > pass->local[largest])
            largest = 2;
        pass->local[largest] = (pass->local[largest] + 1) / 2;
    }
}

void work_group_choose(struct pass *pass, const struct glcnn_limits *limits,
                       const struct glcnn_device_traits *traits)
{
    if (!pass->local[0])
        choose_local(pass, traits);
    clamp_local(pass, limits);
}
