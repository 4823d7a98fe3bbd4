/* Gradients that are added up over several executions, of which the last one updates by their mean. The
 * sums are vectors of the recording's own. A commit that updates nothing ends behind the pass that adds
 * to them: what follows, from the means on, is as in a graph that updates each time. */
#include <stdlib.h>

#include "graph/update.h"

static glcnn_status make_sums(struct recording *r, const struct gradients *g)
{
    glcnn_status status = GLCNN_SUCCESS;
    r->accumulated = calloc(g->count + 1, sizeof(*r->accumulated));
    if (!r->accumulated)
        return device_fail(r->graph->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    for (size_t i = 0; i < g->count && status == GLCNN_SUCCESS; i++) {
        size_t size = g->vectors[i].count * sizeof(float);
        status = glcnn_buffer_create(r->graph->device, size, &r->accumulated[i]);
        r->accumulated_count += status == GLCNN_SUCCESS;
        r->command_buffer->held_size += size;
    }
    return status;
}

static void plan_mean(struct plan *plan, const struct vector_view *gradient,
                      const struct vector_view *sum, uint32_t group)
{
    struct pass *pass = plan_pass(plan, "optimizer/gradient_mean.comp");
    pass_vector(pass, "gradient", gradient, VECTOR_WRITE);
    pass_vector(pass, "sum", sum, VECTOR_READ_WRITE);
    pass_float(pass, "mean_factor", 1.0f / (float)group);
    pass_grid(pass, (uint32_t)gradient->count, 1, 1);
    pass_local(pass, 64, 1, 1);
}

static struct vector_view sum_of(const struct recording *r, const struct gradients *g, size_t i)
{
    return (struct vector_view){r->accumulated[i], 0, g->vectors[i].count, false};
}

static glcnn_status record_sums(const struct recording *r, const struct gradients *g)
{
    struct plan plan;
    plan_begin(&plan, r->command_buffer);
    for (size_t i = 0; i < g->count; i++) {
        const struct vector_view sum = sum_of(r, g, i);
        plan_add_vector(&plan, &g->vectors[i], &sum);
    }
    glcnn_status status = plan_end(&plan);
    if (status == GLCNN_SUCCESS)
        r->command_buffer->passes[r->command_buffer->pass_count - 1].issue.ends_short = true;
    return status;
}

static glcnn_status record_means(const struct recording *r, const struct gradients *g)
{
    struct plan plan;
    plan_begin(&plan, r->command_buffer);
    for (size_t i = 0; i < g->count; i++) {
        const struct vector_view sum = sum_of(r, g, i);
        plan_mean(&plan, &g->vectors[i], &sum, r->graph->group);
    }
    return plan_end(&plan);
}

glcnn_status accumulation_record(struct recording *r)
{
    struct plan plan;
    if (r->graph->group == 1)
        return GLCNN_SUCCESS;
    plan_begin(&plan, r->command_buffer);
    struct gradients g = gradients_list(&plan, r);
    glcnn_status status = plan_end(&plan);
    if (status == GLCNN_SUCCESS && g.count > 0)
        status = make_sums(r, &g);
    if (status == GLCNN_SUCCESS && g.count > 0)
        status = record_sums(r, &g);
    if (status == GLCNN_SUCCESS && g.count > 0)
        status = record_means(r, &g);
    free(g.vectors);
    return status;
}

void accumulation_free(struct recording *r)
{
    for (size_t i = 0; i < r->accumulated_count; i++)
        glcnn_buffer_destroy(&r->accumulated[i]);
    free(r->accumulated);
    r->accumulated = NULL;
    r->accumulated_count = 0;
}
