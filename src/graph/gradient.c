/* Gradient filter nodes and training graphs: spec 10.2 and 10.3. */
#include <stdlib.h>
#include <string.h>

#include "graph/node.h"

/* ---- One gradient node ---- */

static size_t gradient_count(const struct glcnn_filter_node *node)
{
    const struct glcnn_descriptor *d = node->kernel->descriptor;
    if (d->flags & IS_GRADIENT || !d->gradient)
        return 0;
    return d->flags & (GATHERS | IS_BINARY) && !(d->flags & FIRST_SOURCE_ONLY) ? node->source_count
                                                                               : 1;
}

/* What the gradient kernel reads besides the gradient; NULL: nothing. */
static struct glcnn_image_node *given_image(const struct glcnn_filter_node *forward,
                                            const struct glcnn_kernel *gradient, size_t source)
{
    const struct glcnn_descriptor *d = gradient->descriptor;
    if (descriptor_place(d, PLACE_SECONDARY) < 0)
        return NULL;
    if (d->flags & NEEDS_RESULT)
        return forward->result;
    if (d->operands)
        source = d->operands(gradient->parameters).given == PLACE_SECONDARY ? 1 : 0;
    return forward->sources[source];
}

static glcnn_status make_kernel(const struct glcnn_filter_node *forward, size_t source,
                                struct glcnn_kernel **kernel)
{
    const struct glcnn_descriptor *d = forward->kernel->descriptor;
    glcnn_status status = glcnn_kernel_create(forward->network->device, d->gradient, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    parameters_adopt(d, forward->kernel->parameters, (*kernel)->parameters);
    (*kernel)->properties.padding = glcnn_padding_inverse(forward->kernel->properties.padding);
    return d->flags & IS_BINARY && !(d->flags & FIRST_SOURCE_ONLY)
               ? glcnn_kernel_set(*kernel, "is_secondary_source_filter", (double)source)
               : GLCNN_SUCCESS;
}

static struct glcnn_filter_node *make_gradient(struct glcnn_filter_node *forward, size_t source,
                                               struct glcnn_image_node *gradient)
{
    struct glcnn_kernel *kernel = NULL;
    glcnn_status status = make_kernel(forward, source, &kernel);
    if (status != GLCNN_SUCCESS) {
        glcnn_kernel_destroy(&kernel);
        return network_keep_failure(forward->network, status);
    }
    struct glcnn_image_node *given = given_image(forward, kernel, source);
    struct glcnn_image_node *const sources[] = {gradient, given};
    struct glcnn_filter_node *made =
        filter_node_make(forward->network, kernel, sources, given ? 2 : 1);
    if (!made)
        return NULL;
    made->forward = forward;
    made->forward_source = source;
    glcnn_status named = glcnn_filter_node_set_label(made, forward->label);
    return named == GLCNN_SUCCESS ? made : network_keep_failure(forward->network, named);
}

/* ---- The four methods ---- */

/* A refused gradient changes nothing, so the network keeps no failure. */
static size_t fail(struct glcnn_filter_node *node, const char *text)
{
    device_fail(node->network->device, GLCNN_INVALID_ARGUMENT, "gradient of %s (%s): %s",
                node->label, node->kernel->descriptor->name, text);
    network_keep_message(node->network);
    return 0;
}

static void clear(glcnn_filter_node **nodes, size_t capacity)
{
    for (size_t i = 0; nodes && i < capacity; i++)
        nodes[i] = NULL;
}

/* Nothing is left of what was begun. */
static size_t take_back(struct glcnn_network *network, const struct network_mark *mark,
                        glcnn_filter_node **nodes, size_t capacity)
{
    network_cut(network, mark);
    clear(nodes, capacity);
    return 0;
}

size_t glcnn_gradient_filters_with_sources(glcnn_filter_node *node,
                                           glcnn_image_node *const *gradients,
                                           size_t gradient_sources, glcnn_filter_node **nodes,
                                           size_t capacity)
{
    clear(nodes, capacity);
    if (!node || node->network->status != GLCNN_SUCCESS)
        return 0;
    const struct glcnn_descriptor *d = node->kernel->descriptor;
    struct network_mark mark = network_mark(node->network);
    size_t count = gradient_count(node);
    const char *without = descriptor_without_gradient(d);
    if (count == 0)
        return fail(node, without ? without : "there is none");
    const char *reason = d->undifferentiable ? d->undifferentiable(node->kernel->parameters) : NULL;
    if (reason)
        return fail(node, reason);
    if (node->source_state)
        return fail(node, "it takes its sizes from a state and so leaves none for a gradient");
    if (gradient_sources != 1 || !gradients || !gradients[0])
        return fail(node, "it takes one gradient, that of the filter's result");
    if (gradients[0]->network != node->network)
        return fail(node, "the gradient is a node of another network");
    if (!nodes || capacity < count)
        return fail(node, "there are more gradient filters than room for them");
    for (size_t i = 0; i < count; i++)
        if (!(nodes[i] = make_gradient(node, i, gradients[0])))
            return take_back(node->network, &mark, nodes, capacity);
    return count;
}

size_t glcnn_gradient_filters_with_source(glcnn_filter_node *node, glcnn_image_node *gradient,
                                          glcnn_filter_node **nodes, size_t capacity)
{
    return glcnn_gradient_filters_with_sources(node, &gradient, 1, nodes, capacity);
}

glcnn_filter_node *glcnn_gradient_filter_with_sources(glcnn_filter_node *node,
                                                      glcnn_image_node *const *gradients,
                                                      size_t gradient_sources)
{
    glcnn_filter_node *made[1];
    if (node && node->network->status == GLCNN_SUCCESS && gradient_count(node) > 1) {
        fail(node, "it has more than one; glcnn_gradient_filters_with_source makes them all");
        return NULL;
    }
    return glcnn_gradient_filters_with_sources(node, gradients, gradient_sources, made, 1) ? made[0]
                                                                                           : NULL;
}

glcnn_filter_node *glcnn_gradient_filter_with_source(glcnn_filter_node *node,
                                                     glcnn_image_node *gradient)
{
    return glcnn_gradient_filter_with_sources(node, &gradient, 1);
}

/* ---- Training graphs ---- */

struct training {
    struct glcnn_network *network;
    struct glcnn_filter_node **filters;  /* [filters] by index: what the last nodes depend on */
    struct glcnn_image_node **gradients; /* [images]: sum of those collected so far; NULL: none */
    glcnn_node_handler handler;
    void *user;
};

/* A filter's index is above that of all that it depends on, so one way down finds them all. */
static void reach(struct training *t, struct glcnn_filter_node *last)
{
    t->filters[last->index] = last;
    for (size_t i = last->index + 1; i-- > 0;) {
        const struct glcnn_filter_node *filter = t->filters[i];
        for (size_t s = 0; filter && s < filter->source_count; s++) {
            struct glcnn_filter_node *producer = filter->sources[s]->filter;
            if (producer)
                t->filters[producer->index] = producer;
        }
    }
}

static void handle(struct training *t, struct glcnn_filter_node *node,
                   struct glcnn_filter_node *forward, struct glcnn_image_node *source,
                   struct glcnn_image_node *gradient)
{
    if (source)
        network_keep_failure(t->network, glcnn_image_node_set_handle(node->result, source->handle));
    if (t->handler)
        t->handler(t->user, node, forward, source, gradient);
}

/* The kernel that adds two images. */
static const char *name_of_sum(void)
{
    size_t i = 0;
    while (!(glcnn_registry[i]->flags & IS_SUM))
        i++;
    return glcnn_registry[i]->name;
}

/* One more gradient of an image: kept, or added to those before. */
static bool collect(struct training *t, const struct glcnn_image_node *image,
                    struct glcnn_image_node *gradient)
{
    struct glcnn_image_node **sum = &t->gradients[image->index];
    if (*sum) {
        struct glcnn_image_node *const sources[] = {*sum, gradient};
        struct glcnn_filter_node *add =
            glcnn_filter_node_create(t->network, name_of_sum(), NULL, sources, 2);
        if (!add)
            return false;
        handle(t, add, NULL, NULL, gradient);
        gradient = add->result;
    }
    *sum = gradient;
    return true;
}

static bool visit(struct training *t, struct glcnn_filter_node *filter)
{
    struct glcnn_image_node *gradient = t->gradients[filter->result->index];
    size_t count = gradient_count(filter);
    bool ignores = filter->kernel->descriptor->flags & IGNORES_SOURCE;
    if (!gradient)
        return true;
    struct glcnn_filter_node **made = calloc(count + 1, sizeof(*made));
    if (!made) {
        network_fail(t->network, GLCNN_OUT_OF_MEMORY, "out of memory making a training graph");
        return false;
    }
    bool good = glcnn_gradient_filters_with_source(filter, gradient, made, count + 1) > 0;
    for (size_t i = 0; i < count && good && made[i]; i++) {
        struct glcnn_image_node *source = filter->sources[i];
        handle(t, made[i], filter, source, gradient);
        if (!source->stop_gradient && !made[i]->result->stop_gradient && !ignores)
            good = collect(t, source, made[i]->result);
    }
    free(made);
    return good && t->network->status == GLCNN_SUCCESS;
}

/* Down the indices is reverse order. */
static bool visit_all(struct training *t, size_t filter_count)
{
    bool good = true;
    for (size_t i = filter_count; good && i-- > 0;)
        if (t->filters[i])
            good = visit(t, t->filters[i]);
    return good;
}

/* [images]: whether some filter reads it; NULL: out of memory. */
static bool *find_read(const struct glcnn_network *network)
{
    bool *read = calloc(network->image_count + 1, sizeof *read);
    for (const struct glcnn_filter_node *n = network->filters; read && n; n = n->next)
        for (size_t i = 0; i < n->source_count; i++)
            read[n->sources[i]->index] = true;
    return read;
}

static size_t list_ends(const struct training *t, size_t first, glcnn_filter_node **nodes,
                        size_t capacity)
{
    size_t count = 0;
    bool *read = find_read(t->network);
    if (!read)
        network_fail(t->network, GLCNN_OUT_OF_MEMORY, "out of memory making a training graph");
    for (struct glcnn_filter_node *n = t->network->filters; read && n; n = n->next)
        if (n->index >= first && !read[n->result->index]) {
            if (count < capacity)
                nodes[count] = n;
            count++;
        }
    free(read);
    return count;
}

/* The predictions of a loss are what it starts from: the loss itself has no gradient node, unless
 * something else depends on its result, which is then refused. */
static void reach_last(struct training *t, struct glcnn_filter_node *last)
{
    struct glcnn_filter_node *before = t->filters[last->index];
    reach(t, last);
    if (last->loss)
        t->filters[last->index] = before;
}

static size_t make_training(struct training *t, const struct training_ends *ends,
                            glcnn_filter_node **nodes, size_t capacity)
{
    size_t filters = t->network->filter_count;
    for (size_t i = 0; i < ends->count; i++)
        reach_last(t, ends->lasts[i]);
    for (size_t i = 0; i < ends->count; i++) {
        struct glcnn_filter_node *last = ends->lasts[i];
        if (!collect(t, last->loss ? last->sources[0] : last->result,
                     ends->gradient ? ends->gradient : last->result))
            return 0;
    }
    if (!visit_all(t, filters))
        return 0;
    size_t count = list_ends(t, filters, nodes, capacity);
    if (t->network->status != GLCNN_SUCCESS)
        return 0;
    if (count == 0)
        return fail(ends->lasts[0], "nothing that it depends on has a gradient");
    if (count > capacity)
        return fail(ends->lasts[0], "the training graph has more ends than room for them");
    return count;
}

size_t training_graph_make(const struct training_ends *ends, glcnn_node_handler handler, void *user,
                           glcnn_filter_node **nodes, size_t capacity)
{
    struct glcnn_network *network = ends->lasts[0]->network;
    struct network_mark mark = network_mark(network);
    struct training t = {.network = network,
                         .filters = calloc(network->filter_count, sizeof(*t.filters)),
                         .gradients = calloc(network->image_count, sizeof(*t.gradients)),
                         .handler = handler,
                         .user = user};
    size_t count = 0;
    if (t.filters && t.gradients)
        count = make_training(&t, ends, nodes, capacity);
    else
        network_fail(network, GLCNN_OUT_OF_MEMORY, "out of memory making a training graph");
    free(t.filters);
    free(t.gradients);
    return count ? count : take_back(network, &mark, nodes, capacity);
}

size_t glcnn_training_graph_with_source_gradient(glcnn_filter_node *last,
                                                 glcnn_image_node *gradient,
                                                 glcnn_node_handler handler, void *user,
                                                 glcnn_filter_node **nodes, size_t capacity)
{
    clear(nodes, capacity);
    if (!last || last->network->status != GLCNN_SUCCESS)
        return 0;
    if (gradient && gradient->network != last->network)
        return fail(last, "the gradient is a node of another network");
    if (!nodes || capacity == 0)
        return fail(last, "there is no room for the nodes that end the training graph");
    const struct training_ends ends = {&last, 1, gradient};
    return training_graph_make(&ends, handler, user, nodes, capacity);
}
