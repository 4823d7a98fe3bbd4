/* What goes into a network and what comes out of it, and another image in an input's place. */
#include "graph/node.h"

/* ---- Inputs and outputs ---- */

static bool is_of_inference(const struct glcnn_filter_node *filter)
{
    return !filter->forward && !filter->loss;
}

/* Marks the images that filters of inference read. */
static void mark_read(const struct glcnn_network *network)
{
    for (struct glcnn_image_node *image = network->images; image; image = image->next)
        image->is_marked = false;
    for (const struct glcnn_filter_node *f = network->filters; f; f = f->next)
        for (size_t s = 0; s < f->source_count && is_of_inference(f); s++)
            f->sources[s]->is_marked = true;
}

static bool is_input(const struct glcnn_image_node *image)
{
    return image->is_marked && !image->filter;
}

static bool is_output(const struct glcnn_image_node *image)
{
    return image->filter && is_of_inference(image->filter) &&
           (!image->is_marked || image->export_from_graph);
}

static size_t list_images(const glcnn_network *network,
                          bool (*belongs)(const struct glcnn_image_node *image),
                          glcnn_image_node **nodes, size_t capacity)
{
    size_t count = 0;
    if (!network)
        return 0;
    mark_read(network);
    for (struct glcnn_image_node *image = network->images; image; image = image->next) {
        if (!belongs(image))
            continue;
        if (nodes && count < capacity)
            nodes[count] = image;
        count++;
    }
    return count;
}

size_t glcnn_network_inputs(const glcnn_network *network, glcnn_image_node **nodes, size_t capacity)
{
    return list_images(network, is_input, nodes, capacity);
}

size_t glcnn_network_outputs(const glcnn_network *network, glcnn_image_node **nodes,
                             size_t capacity)
{
    return list_images(network, is_output, nodes, capacity);
}

/* ---- Another image in an input's place ---- */

static void mark_sources(struct glcnn_filter_node *filter)
{
    filter->result->is_marked = true; /* a state that is followed has its filter made too */
    for (size_t s = 0; s < filter->source_count; s++)
        filter->sources[s]->is_marked = true;
    if (filter->source_state)
        filter->source_state->filter->result->is_marked = true;
}

/* Marks what `image` depends on, itself included; a filter is marked by its result. */
static void mark_needed(struct glcnn_network *network, struct glcnn_image_node *image)
{
    for (struct glcnn_image_node *i = network->images; i; i = i->next)
        i->is_marked = i == image;
    for (size_t k = network->filter_count; k-- > 0;) {
        struct glcnn_filter_node *filter = network->filter_at[k];
        if (filter->result->is_marked || (filter->loss && filter->loss->is_marked))
            mark_sources(filter);
    }
}

/* The weights of nodes that share a kernel are in files under the first one's label. */
static const struct glcnn_filter_node *find_shared(const struct glcnn_network *network)
{
    for (const struct glcnn_filter_node *f = network->filters; f; f = f->next)
        if (f->shared_with && f->result->is_marked != f->shared_with->result->is_marked)
            return f;
    return NULL;
}

static glcnn_status check_replacement(struct glcnn_image_node *input, struct glcnn_image_node *with)
{
    struct glcnn_network *network = input->network;
    const struct glcnn_filter_node *shared = NULL;
    const char *name = input->handle ? input->handle : "(without a handle)";
    const char *wrong = input->filter ? "a filter makes the first image, which is no input"
                        : !with       ? "the second image is NULL"
                        : with->network != network ? "the second image is of another network"
                        : network->has_graph
                            ? "a graph was made of the network; replace before that"
                            : NULL;
    if (!wrong) {
        mark_needed(network, with);
        shared = find_shared(network);
        wrong = input->is_marked ? "the second image depends on it" : NULL;
    }
    if (wrong)
        return device_fail(network->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_image_node_replace_input: %s: %s", name, wrong);
    if (shared)
        return device_fail(
            network->device, GLCNN_INVALID_ARGUMENT,
            "glcnn_image_node_replace_input: %s: \"%s\" has its kernel in common with "
            "\"%s\", which would come before it",
            name, shared->label, shared->shared_with->label);
    return GLCNN_SUCCESS;
}

/* Sources stand before their readers, in files too: the marked filters come first. */
static void move_to_front(struct glcnn_network *network)
{
    struct glcnn_filter_node *others = NULL, **last_other = &others;
    struct glcnn_filter_node *next, *filter = network->filters;
    network->last_filter = &network->filters;
    for (; filter; filter = next) {
        next = filter->next;
        struct glcnn_filter_node ***last =
            filter->result->is_marked ? &network->last_filter : &last_other;
        **last = filter;
        *last = &filter->next;
    }
    *last_other = NULL;
    *network->last_filter = others;
    if (others)
        network->last_filter = last_other;
    size_t index = 0;
    for (filter = network->filters; filter; filter = filter->next) {
        filter->index = index;
        network->filter_at[index++] = filter;
    }
}

glcnn_status glcnn_image_node_replace_input(glcnn_image_node *input, glcnn_image_node *with)
{
    if (!input)
        return GLCNN_INVALID_ARGUMENT;
    glcnn_status status = check_replacement(input, with);
    if (status != GLCNN_SUCCESS)
        return status;
    move_to_front(input->network);
    for (struct glcnn_filter_node *f = input->network->filters; f; f = f->next)
        for (size_t s = 0; s < f->source_count; s++)
            if (f->sources[s] == input)
                f->sources[s] = with;
    return GLCNN_SUCCESS;
}
