/* Updates of weights and statistics after a run, by training style: spec 10.4. */
#include <string.h>

#include "graph/graph.h"

/* ---- Sums over several gradient nodes of one filter ---- */

/* Convolution's gradients add to what the state holds. Those of normalisations begin anew, or are
 * read by the pass that follows, which wants the sums of its own gradient alone. */
bool update_sums_apart(const struct graph_filter *f)
{
    const struct glcnn_filter_node *n = f->node;
    unsigned flags = n->kernel->descriptor->flags;
    if (!f->repeats)
        return false;
    return n->collector ? n->collector->descriptor->flags & MODIFIES_STATE
                        : (flags & (MODIFIES_STATE | SHARED_STATE)) == MODIFIES_STATE;
}

/* Adds the vectors that `from` has of its own to those of `to`. */
static glcnn_status add_sums(const struct recording *r, const struct glcnn_state *from,
                             struct glcnn_state *to)
{
    struct plan plan;
    plan_begin(&plan, r->command_buffer);
    for (size_t i = 0; i < from->vector_count && plan.status == GLCNN_SUCCESS; i++) {
        const struct state_vector *own = &from->vectors[i];
        struct state_vector *sum;
        size_t count = own->buffer->size / 4;
        if (own->lent)
            continue;
        plan.status = state_vector(to, own->name, count, &sum);
        if (plan.status == GLCNN_SUCCESS)
            plan_add_vector(&plan, &(struct vector_view){own->buffer, 0, count},
                            &(struct vector_view){sum->buffer, 0, count});
    }
    return plan_end(&plan);
}

static glcnn_status add_up(const struct recording *r)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < r->graph->filter_count && status == GLCNN_SUCCESS; i++) {
        const struct graph_filter *f = &r->graph->filters[i];
        if (!f->updates || !update_sums_apart(f))
            continue;
        size_t forward = graph_find_filter(r->graph, f->node->forward);
        status = add_sums(r, recording_state(r, i, 0, 0), recording_state(r, forward, 0, 0));
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
            status = state_lend(*state, argument->name, kernel->vectors[i]);
    for (size_t i = 0; status == GLCNN_SUCCESS && i < (*state)->vector_count; i++)
        (*state)->vectors[i].lent = false;
    if (status != GLCNN_SUCCESS)
        glcnn_state_destroy(state);
    return status;
}

/* What an update of one gradient node works on. */
struct update {
    struct glcnn_kernel *kernel; /* forward */
    const struct glcnn_data_source *source;
    struct glcnn_state *gradients, *weights;
    bool has_statistics;
};

static glcnn_status begin(const struct recording *r, const struct graph_filter *f,
                          struct update *update)
{
    size_t forward = graph_find_filter(r->graph, f->node->forward);
    *update = (struct update){.kernel = f->node->forward->kernel,
                              .source = glcnn_kernel_data_source(f->node->forward->kernel),
                              .gradients = recording_state(r, forward, 0, 0),
                              .has_statistics = r->graph->filters[forward].collects};
    return make_source_state(update->kernel, &update->weights);
}

static glcnn_status reload(const struct recording *r, const struct update *u,
                           struct glcnn_state *updated)
{
    if (!updated || updated == u->weights)
        return GLCNN_SUCCESS;
    return glcnn_kernel_encode_reload_state(r->command_buffer, u->kernel, updated);
}

static glcnn_status record_one(const struct recording *r, const struct update *u)
{
    struct glcnn_state *updated = NULL;
    glcnn_status status = GLCNN_SUCCESS;
    if (u->source->update) {
        status = u->source->update(u->source->context, r->command_buffer, u->gradients, u->weights,
                                   &updated);
        if (status == GLCNN_SUCCESS)
            status = reload(r, u, updated);
    }
    updated = NULL;
    if (status == GLCNN_SUCCESS && u->has_statistics && u->source->update_statistics) {
        status = u->source->update_statistics(u->source->context, r->command_buffer, u->gradients,
                                              &updated);
        if (status == GLCNN_SUCCESS)
            status = reload(r, u, updated);
    }
    return status;
}

static bool has_style(const struct graph_filter *f, glcnn_training_style style)
{
    return f->updates && !f->repeats && f->node->forward->style == style &&
           glcnn_kernel_data_source(f->node->forward->kernel);
}

glcnn_status update_record(const struct recording *r)
{
    glcnn_status status = add_up(r);
    for (size_t i = 0; i < r->graph->filter_count && status == GLCNN_SUCCESS; i++) {
        const struct graph_filter *f = &r->graph->filters[i];
        struct update update;
        if (!has_style(f, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU))
            continue;
        status = begin(r, f, &update);
        if (status == GLCNN_SUCCESS)
            status = record_one(r, &update);
        glcnn_state_destroy(&update.weights);
    }
    return status;
}

static glcnn_status update_one_on_cpu(const struct update *u)
{
    bool changed = false;
    if (u->source->update_cpu)
        changed = u->source->update_cpu(u->source->context, u->gradients, u->weights);
    if (u->has_statistics && u->source->update_statistics_cpu)
        changed |= u->source->update_statistics_cpu(u->source->context, u->gradients);
    return changed ? glcnn_kernel_reload_from_data_source(u->kernel) : GLCNN_SUCCESS;
}

glcnn_status update_on_cpu(const struct recording *r)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < r->graph->filter_count && status == GLCNN_SUCCESS; i++) {
        const struct graph_filter *f = &r->graph->filters[i];
        struct update update;
        if (!has_style(f, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU))
            continue;
        status = begin(r, f, &update);
        if (status == GLCNN_SUCCESS)
            status = update_one_on_cpu(&update);
        glcnn_state_destroy(&update.weights);
    }
    return status;
}
