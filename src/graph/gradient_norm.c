/* Loss scaling's end, and clipping by norm: the gradients for weights of all kernels that a graph
 * updates are one vector, which is divided by the scale of losses, told whether it is finite, and
 * scaled down where it is too long. Squares are summed in rounds, each of which leaves one
 * sum for as many as an invocation takes, in an order that the lengths alone settle; the last round
 * is made by every invocation that scales. */
#include <float.h>
#include <stdlib.h>

#include "graph/loss_scale.h"
#include "graph/update.h"

#define ROUND 64 /* elements that an invocation sums */

static void add_view(struct plan *plan, struct gradients *g, struct vector_view view)
{
    struct vector_view *more = realloc(g->vectors, (g->count + 1) * sizeof *more);
    if (!more) {
        plan_fail(plan, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
        return;
    }
    g->vectors = more;
    g->vectors[g->count++] = view;
}

static void add_buffer(struct plan *plan, struct gradients *g, struct glcnn_buffer *buffer)
{
    const struct vector_view whole = {buffer, 0, buffer->size / 4, false};
    size_t most = plan_part_elements(plan);
    if (plan_fits_block(plan, whole.count)) {
        add_view(plan, g, whole);
        return;
    }
    for (size_t first = 0; first < whole.count; first += most) {
        size_t rest = whole.count - first;
        add_view(plan, g, vector_part(&whole, first, rest < most ? rest : most));
    }
}

static bool leads(const struct recording *r, size_t filter)
{
    const struct graph_filter *f = &r->graph->filters[filter];
    return !r->stepped[filter] && update_leads_any(r->graph, f);
}

struct gradients gradients_list(struct plan *plan, const struct recording *r)
{
    struct gradients g = {NULL, 0};
    for (size_t i = 0; i < r->multi_tensor_steps.count; i++)
        add_buffer(plan, &g, r->multi_tensor_steps.items[i].vectors[STEP_GRADIENTS]);
    for (size_t i = 0; i < r->graph->filter_count; i++) {
        if (!leads(r, i))
            continue;
        const struct glcnn_state *state = update_state(r, &r->graph->filters[i]);
        for (size_t v = 0; v < state->vector_count; v++)
            if (update_is_gradient(&state->vectors[v]))
                add_buffer(plan, &g, state->vectors[v].buffer);
    }
    return g;
}

/* Divides what the pass reads of gradients by the scale of losses. */
static void pass_unscale(struct pass *pass, const struct glcnn_graph *graph)
{
    if (!loss_scale_is_used(graph))
        return;
    pass_define(pass, "SCALED", 1);
    pass_float_of(pass, "unscale", &graph->loss_unscale);
}

/* Sums of the elements of `from` into `to`: element i of `to` has every to->count-th one from i
 * on. */
static struct pass *plan_sums(struct plan *plan, const struct vector_view *from,
                              const struct vector_view *to)
{
    struct pass *pass = plan_pass(plan, "optimizer/gradient_sums.comp");
    pass_vector(pass, "source", from, VECTOR_READ);
    pass_vector(pass, "sums", to, VECTOR_READ_WRITE);
    pass_int(pass, "source_count", (int32_t)from->count);
    pass_int(pass, "sum_count", (int32_t)to->count);
    pass_int(pass, "first_sum", (int32_t)to->offset);
    pass_grid(pass, (uint32_t)to->count, 1, 1);
    pass_local(pass, 64, 1, 1);
    return pass;
}

static void plan_scale(struct plan *plan, const struct glcnn_graph *graph,
                       const struct vector_view *gradient, const struct vector_view *sums)
{
    struct pass *pass = plan_pass(plan, "optimizer/gradient_scale.comp");
    pass_vector(pass, "gradient", gradient, VECTOR_READ_WRITE);
    pass_vector(pass, "sums", sums, VECTOR_READ);
    pass_int(pass, "sum_count", (int32_t)sums->count);
    pass_float(pass, "largest",
               graph->gradient_clip_norm > 0 ? graph->gradient_clip_norm : FLT_MAX);
    pass_unscale(pass, graph);
    pass_grid(pass, (uint32_t)gradient->count, 1, 1);
    pass_local(pass, 64, 1, 1);
}

static size_t rounds_of(size_t count)
{
    return (count + ROUND - 1) / ROUND;
}

/* The sums of the squares, as many as an invocation goes through; with loss scaling one, which is
 * kept to be looked at. */
static struct vector_view plan_squares(struct plan *plan, struct recording *r,
                                       const struct gradients *g)
{
    size_t count = 0, most = loss_scale_is_used(r->graph) ? 1 : ROUND;
    for (size_t i = 0; i < g->count; i++)
        count += rounds_of(g->vectors[i].count);
    struct vector_view sums = plan_scratch_vector(plan, count);
    for (size_t i = 0, offset = 0; i < g->count; i++) {
        struct vector_view own = {sums.buffer, offset, rounds_of(g->vectors[i].count)};
        struct pass *pass = plan_sums(plan, &g->vectors[i], &own);
        pass_define(pass, "SQUARES", 1);
        pass_unscale(pass, r->graph);
        offset += own.count;
    }
    while (sums.count > most) {
        struct vector_view fewer = plan_scratch_vector(plan, rounds_of(sums.count));
        plan_sums(plan, &sums, &fewer);
        sums = fewer;
    }
    if (most == 1 && plan->status == GLCNN_SUCCESS)
        r->gradient_sum = buffer_retain(sums.buffer);
    return sums;
}

glcnn_status gradient_norm_record(struct recording *r)
{
    struct plan plan;
    if (r->graph->gradient_clip_norm == 0 && !loss_scale_is_used(r->graph))
        return GLCNN_SUCCESS;
    struct vector_view sums = {NULL};
    plan_begin(&plan, r->command_buffer);
    struct gradients g = gradients_list(&plan, r);
    if (g.count)
        sums = plan_squares(&plan, r, &g);
    for (size_t i = 0; i < g.count; i++)
        plan_scale(&plan, r->graph, &g.vectors[i], &sums);
    free(g.vectors);
    return plan_end(&plan);
}
