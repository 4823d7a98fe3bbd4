/* The sum over windows where results are few, as those of a fully connected layer: a work group for
 * each slice of a pixel, whose lanes share out the elements. */
#include "kernels/convolution_plan.h"

/* Quads of elements that a lane reads at a time, as in the shader, and lanes of a group. */
#define AT_ONCE   4u
#define FEW_LANES 32u
#define ALL_LANES 128u

#define MOST_ELEMENTS (1u << 22) /* that all groups go through */

bool sum_is_dots(const void *shape)
{
    const struct sum_shape *s = shape;
    return !s->sum->places && packing_is_dense(s->packing) && packing_is_in_order(s->packing) &&
           sum_fits_block(s);
}

/* Every group reads the weights of its slice for itself: that pays where a tile of groups would leave
 * a GPU idle. */
bool sum_fills_dots(const void *shape)
{
    const struct sum_shape *s = shape;
    uint64_t groups = (uint64_t)s->sum->destination.images * s->packing->slices;
    return s->sum->extent[0] == 1 && s->sum->extent[1] == 1 &&
           groups * s->packing->elements <= MOST_ELEMENTS;
}

void plan_sum_dots(struct plan *plan, const struct packing *p, const struct implementation *row,
                   const struct sum *sum)
{
    uint32_t lanes = p->elements / 4 <= AT_ONCE * FEW_LANES ? FEW_LANES : ALL_LANES;
    uint32_t pixels = sum->extent[0] * sum->extent[1] * sum->destination.images;
    struct pass *pass = plan_sum_pass(plan, p, row, sum);
    pass_biases_in_place(pass, sum);
    pass_vector_of(pass, "vec4", "weights", sum->weights, VECTOR_READ);
    pass_define(pass, "LANES", (int)lanes);
    pass_int(pass, "stride_x", sum->window.x.stride);
    pass_int(pass, "dilation_x", sum->window.x.dilation);
    pass_grid(pass, pixels * lanes, p->slices, 1);
    pass_local(pass, lanes, 1, 1);
    pass->cooperative = true;
    pass->work = p->elements / lanes * 8 + 64;
}
