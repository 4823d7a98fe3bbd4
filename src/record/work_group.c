/* Sizes of work groups: what fits a grid best, within the device's limits. */
#include "record/work_group.h"

#include <string.h>

/* Powers of two that cover the grid with the fewest invocations left over; of equals the first.
 * Groups are deep only where a plane has few pixels: neighbours in x and y share cache lines,
 * neighbours in z lie in other layers. */
static void choose_local(struct pass *pass)
{
    static const uint32_t flat[][3] = {{8, 8, 1},  {16, 4, 1}, {32, 2, 1}, {64, 1, 1}, {4, 16, 1},
                                       {16, 8, 1}, {8, 4, 1},  {16, 2, 1}, {32, 1, 1}, {4, 8, 1},
                                       {2, 32, 1}, {2, 16, 1}, {1, 32, 1}};
    static const uint32_t deep[][3] = {{4, 4, 4},  {1, 1, 64}, {2, 1, 32}, {1, 2, 32},
                                       {2, 2, 16}, {4, 2, 8},  {2, 4, 8}};
    bool few = pass->grid[0] * pass->grid[1] < 16;
    const uint32_t(*candidates)[3] = few ? deep : flat;
    size_t count = few ? sizeof deep / sizeof *deep : sizeof flat / sizeof *flat;
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        uint64_t covered = 1;
        for (int axis = 0; axis < 3; axis++)
            covered *=
                (uint64_t)groups_of(pass->grid[axis], candidates[i][axis]) * candidates[i][axis];
        if (covered < best) {
            best = covered;
            memcpy(pass->local, candidates[i], sizeof pass->local);
        }
    }
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

void work_group_choose(struct pass *pass, const struct glcnn_limits *limits)
{
    if (!pass->local[0])
        choose_local(pass);
    clamp_local(pass, limits);
}
