/* The digest tells in a number what graphs are made of. Properties and parameters are compared where they lie, since users write into
 * them through pointers, which no counter would see. */
#include "base/digest.h"
#include "encode/kernel.h"
#include "graph/node.h"

#define ADD(digest, value) digest_add(digest, &(value), sizeof(value))

static uint64_t add_kernel(uint64_t digest, const struct glcnn_kernel *kernel)
{
    const struct glcnn_data_source *source = glcnn_kernel_data_source(kernel);
    digest = ADD(digest, kernel);
    digest = ADD(digest, kernel->properties);
    digest = ADD(digest, kernel->trainable);
    digest = ADD(digest, kernel->weight_rounding);
    digest = ADD(digest, source);
    return digest_add(digest, kernel->parameters, kernel->descriptor->parameters_size);
}

/* An encode writes into the kernel of a gradient node what it takes over from the forward kernel. */
static uint64_t add_filter(uint64_t digest, const struct glcnn_filter_node *filter)
{
    digest = filter->forward ? ADD(digest, filter->kernel) : add_kernel(digest, filter->kernel);
    digest = digest_add(digest, filter->sources, filter->source_count * sizeof(*filter->sources));
    digest = ADD(digest, filter->style);
    return ADD(digest, filter->state.export_from_graph);
}

static uint64_t add_image(uint64_t digest, const struct glcnn_image_node *image)
{
    digest = ADD(digest, image->format);
    digest = ADD(digest, image->export_from_graph);
    return ADD(digest, image->stop_gradient);
}

uint64_t glcnn_network_digest(const glcnn_network *network)
{
    uint64_t digest = DIGEST_START;
    for (const struct glcnn_filter_node *n = network ? network->filters : NULL; n; n = n->next)
        digest = add_filter(digest, n);
    for (const struct glcnn_image_node *n = network ? network->images : NULL; n; n = n->next)
        digest = add_image(digest, n);
    return digest;
}
