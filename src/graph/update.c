/* Updates of weights and statistics after a run, by training style: spec 10.4. */
#include "glcnn/training.h"
#include "graph/exchange.h"
#include "graph/loss_scale.h"
#include "graph/update.h"

/* ---- Sums over several gradient nodes of one filter ---- */

/* Adds the gradients for weights that `from` has of its own to those of `to`. */
static glcnn_status add_sums(const struct recording *r, const struct glcnn_state *from,
                             struct glcnn_state *to)
{
    struct plan plan;
    plan_begin(&plan, r->command_buffer);
    for (size_t i = 0; i < from->vector_count && plan.status == GLCNN_SUCCESS; i++) {
        const struct state_vector *own = &from->vectors[i];
        struct state_vector *sum;
        size_t count = own->buffer->size / 4;
        if (!update_is_gradient(own))
            continue;
        plan.status = state_vector(to, own->name, count, false, &sum);
        if (plan.status == GLCNN_SUCCESS)
            plan_add_vector(&plan, &(struct vector_view){own->buffer, 0, count},
                            &(struct vector_view){sum->buffer, 0, count});
    }
    return plan_end(&plan);
}

/* First those of each forward filter, then those of the filters that share a kernel. */
static glcnn_status add_up(const struct recording *r)
{
    const struct glcnn_graph *g = r->graph;
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < g->filter_count && status == GLCNN_SUCCESS; i++) {
        const struct graph_filter *f = &g->filters[i];
        if (f->updates && update_sums_apart(f))
            status = add_sums(r, recording_state(r, i, 0, 0), update_state(r, f));
    }
    for (size_t i = 0; i < g->filter_count && status == GLCNN_SUCCESS; i++) {
        const struct graph_filter *f = &g->filters[i];
        if (update_is_by_source(f) && update_leader(g, f) != f)
            status = add_sums(r, update_state(r, f), update_state(r, update_leader(g, f)));
    }
    return status;
}

/* ---- Updates ---- */

/* A state whose vectors are the kernel's own: what is written there is the kernel's at once. */
static glcnn_status make_source_state(const struct glcnn_kernel *kernel, struct glcnn_state **state)
{
    const struct argument *argument;
    glcnn_status status = state_create(kernel->device, NULL, state);
    for (size_t i = 0;
         status == GLCNN_SUCCESS && (argument = descriptor_argument_at(kernel->descriptor, i)); i++)
        if (!argument_is_image(argument) && kernel->vectors[i])
            status = state_borrow(*state, argument->name, kernel->vectors[i]);
    for (size_t i = 0; status == GLCNN_SUCCESS && i < (*state)->vector_count; i++)
        (*state)->vectors[i].borrowed = false;
    if (status != GLCNN_SUCCESS)
        glcnn_state_destroy(state);
    return status;
}

/* What an update of one kernel works on. */
struct update {
    const struct graph_filter *leader;
    struct glcnn_kernel *kernel; /* forward */
    const struct glcnn_data_source *source;
    struct glcnn_state *gradients, *weights;
};

static glcnn_status begin(const struct recording *r, const struct graph_filter *f,
                          struct update *update)
{
    *update = (struct update){.leader = f,
                              .kernel = f->node->forward->kernel,
                              .source = glcnn_kernel_data_source(f->node->forward->kernel),
                              .gradients = update_state(r, f)};
    return make_source_state(update->kernel, &update->weights);
}

static glcnn_status reload(const struct recording *r, const struct update *u,
                           struct glcnn_state *updated)
{
    if (!updated || updated == u->weights)
        return GLCNN_SUCCESS;
    return glcnn_kernel_encode_reload_state(r->command_buffer, u->kernel, updated);
}

static glcnn_status record_weights(const struct recording *r, const struct update *u)
{
    struct glcnn_state *updated = NULL;
    if (!u->source->update || r->stepped[u->leader - r->graph->filters])
        return GLCNN_SUCCESS;
    glcnn_status status = u->source->update(u->source->context, r->command_buffer, u->gradients,
                                            u->weights, &updated);
    return status == GLCNN_SUCCESS ? reload(r, u, updated) : status;
}

/* Once for each use of the kernel, in the order of the filters. */
static glcnn_status record_statistics(const struct recording *r, const struct update *u)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < r->graph->filter_count && status == GLCNN_SUCCESS; i++) {
        struct glcnn_state *updated = NULL;
        if (!u->source->update_statistics || r->averaged[i] ||
            !update_gives_statistics(r->graph, u->leader, i))
            continue;
        status = u->source->update_statistics(u->source->context, r->command_buffer,
                                              recording_state(r, i, 0, 0), &updated);
        if (status == GLCNN_SUCCESS)
            status = reload(r, u, updated);
    }
    return status;
}

static glcnn_status update_one_on_cpu(const struct recording *r, const struct update *u)
{
    bool changed = false;
    if (u->source->update_cpu)
        changed = u->source->update_cpu(u->source->context, u->gradients, u->weights);
    for (size_t i = 0; i < r->graph->filter_count; i++)
        if (u->source->update_statistics_cpu && update_gives_statistics(r->graph, u->leader, i))
            changed |=
                u->source->update_statistics_cpu(u->source->context, recording_state(r, i, 0, 0));
    return changed ? glcnn_kernel_reload_from_data_source(u->kernel) : GLCNN_SUCCESS;
}

/* Makes each update of that style with `one`. */
static glcnn_status for_each_update(const struct recording *r, glcnn_training_style style,
                                    glcnn_status (*one)(const struct recording *r,
                                                        const struct update *u))
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < r->graph->filter_count && status == GLCNN_SUCCESS; i++) {
        const struct graph_filter *f = &r->graph->filters[i];
        struct update update;
        if (!update_leads(r->graph, f, style))
            continue;
        status = begin(r, f, &update);
        if (status == GLCNN_SUCCESS)
            status = one(r, &update);
        glcnn_state_destroy(&update.weights);
    }
    return status;
}

/* Of each batch. */
static glcnn_status record_all_statistics(struct recording *r)
{
    glcnn_status status =
        r->command_buffer->deferred ? multi_tensor_averages_record(r) : GLCNN_SUCCESS;
    return status == GLCNN_SUCCESS
               ? for_each_update(r, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU, record_statistics)
               : status;
}

/* Once the gradients are those of all that the update is to follow. */
static glcnn_status record_steps(struct recording *r)
{
    glcnn_status status = exchange_record_gradients(r);
    if (status == GLCNN_SUCCESS)
        status = gradient_norm_record(r);
    if (status == GLCNN_SUCCESS)
        status = multi_tensor_steps_record(&r->multi_tensor_steps, r->command_buffer);
    return status == GLCNN_SUCCESS
               ? for_each_update(r, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU, record_weights)
               : status;
}

/* Multi-tensor steps are for executions only, which look at the optimizers before each commit. */
glcnn_status update_record(struct recording *r)
{
    glcnn_status status = add_up(r);
    r->command_buffer->skips_nan = loss_scale_is_used(r->graph);
    if (status == GLCNN_SUCCESS && r->command_buffer->deferred && !r->graph->steps_differ)
        status = multi_tensor_steps_find(r);
    if (status == GLCNN_SUCCESS)
        status = record_all_statistics(r);
    if (status == GLCNN_SUCCESS)
        status = accumulation_record(r);
    return status == GLCNN_SUCCESS ? record_steps(r) : status;
}

glcnn_status update_on_cpu(const struct recording *r)
{
    return for_each_update(r, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU, update_one_on_cpu);
}

void update_step_back(const struct glcnn_graph *graph)
{
    for (size_t i = 0; i < graph->filter_count; i++) {
        const struct graph_filter *f = &graph->filters[i];
        if (!update_leads(graph, f, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU))
            continue;
        struct glcnn_kernel *optimizer = glcnn_kernel_optimizer(f->node->forward->kernel);
        if (optimizer && optimizer->descriptor->optimizer->step_back)
            optimizer->descriptor->optimizer->step_back(optimizer->parameters);
    }
}
