/* Which gradient node the update of a kernel follows, where several add to its gradients. */
#include <string.h>

#include "graph/update.h"

/* Convolution's gradients add to what the state holds. Those of normalisations start over, or are
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

bool update_is_gradient(const struct state_vector *vector)
{
    return !vector->borrowed && strncmp(vector->name, "gradient_for_", 13) == 0;
}

struct glcnn_state *update_state(const struct recording *r, const struct graph_filter *f)
{
    return recording_state(r, graph_find_filter(r->graph, f->node->forward), 0, 0);
}

bool update_is_by_source(const struct graph_filter *f)
{
    return f->updates && !f->repeats && glcnn_kernel_data_source(f->node->forward->kernel);
}

const struct graph_filter *update_leader(const struct glcnn_graph *g, const struct graph_filter *f)
{
    const struct graph_filter *first = f;
    bool shares = g->filters[graph_find_filter(g, f->node->forward)].shares;
    for (size_t i = 0; i < g->filter_count && shares; i++) {
        const struct graph_filter *other = &g->filters[i];
        if (update_is_by_source(other) &&
            other->node->forward->kernel == f->node->forward->kernel &&
            other->node->forward->style == f->node->forward->style &&
            other->node->forward->index < first->node->forward->index)
            first = other;
    }
    return first;
}

bool update_leads(const struct glcnn_graph *graph, const struct graph_filter *f,
                  glcnn_training_style style)
{
    return update_is_by_source(f) && f->node->forward->style == style &&
           update_leader(graph, f) == f;
}

bool update_leads_any(const struct glcnn_graph *graph, const struct graph_filter *f)
{
    return update_leads(graph, f, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU) ||
           update_leads(graph, f, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU);
}

bool update_gives_statistics(const struct glcnn_graph *graph, const struct graph_filter *leader,
                             size_t i)
{
    const struct graph_filter *f = &graph->filters[i];
    const struct glcnn_filter_node *forward = leader->node->forward;
    return f->collects && f->has_gradient && f->node->kernel == forward->kernel &&
           f->node->style == forward->style;
}
