/* The sum over windows where results are few, as those of a fully connected layer: a work group for
 * each slice of a pixel, whose lanes share out the elements of the dot product. */
#include "desktop/convolution.h"

/* Vectors of four elements that a lane reads at a time, as in the shader, and lanes of a group. */
#define AT_ONCE   4u
#define FEW_LANES 32u
#define ALL_LANES 128u

#define MOST_ELEMENTS (1u << 22) /* that all groups go through */

bool sum_reads_vectors(const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    return !problem->sum->phases && packing_is_dense(problem->packing) &&
           packing_is_in_order(problem->packing) && sum_fits_block(problem);
}

/* Every group reads the weights of its slice for itself. */
bool sum_has_few_results(const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct sum *sum = problem->sum;
    uint64_t groups = (uint64_t)sum->destination.images * problem->packing->slices;
    return sum->extent[0] == 1 && sum->extent[1] == 1 &&
           groups * problem->packing->elements <= MOST_ELEMENTS;
}

void plan_split_dot(struct plan *plan, const struct implementation *row, const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct packing *p = problem->packing;
    const struct sum *sum = problem->sum;
    uint32_t lanes = p->elements / 4 <= AT_ONCE * FEW_LANES ? FEW_LANES : ALL_LANES;
    struct pass *pass = plan_sum_pass(plan, row, problem);
    pass_biases_unpacked(pass, sum);
    pass_vector_of(pass, "vec4", "weights", sum->weights, VECTOR_READ);
    pass_define(pass, "LANES", (int)lanes);
    pass_int(pass, "stride_x", sum->window.x.stride);
    pass_int(pass, "dilation_x", sum->window.x.dilation);
    pass_grid(pass, sum_pixels(sum) * lanes, p->slices, 1);
    pass_local(pass, lanes, 1, 1);
    pass->cooperative = true;
    pass->work = p->elements / lanes * 8 + 64;
}
