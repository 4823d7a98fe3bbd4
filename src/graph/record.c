/* Recording a graph: one encode for each filter, or several where the batch runs in parts.
 *
 * Filters are cut into segments, each of which ends with a collector: the whole batch must go
 * through a segment before the next begins. Within a segment each sub-batch goes through all
 * filters before the next does, so images that only one segment uses need hold but a sub-batch. */
#include <stdlib.h>
#include <string.h>

#include "device/debug.h"
#include "graph/exchange.h"
#include "graph/loss_scale.h"
#include "graph/update.h"
#include "record/stores.h"

/* Images of the batch that an encode works on. */
struct range {
    uint32_t sub_batch, first, count;
};

static const struct graph_filter *filter_of(const struct recording *r,
                                            const struct record_step *step)
{
    return &r->graph->filters[step->filter];
}

/* ---- Images ---- */

/* The images of a range as one image; a new reference. */
static glcnn_status get_image(const struct recording *r, const struct glcnn_image_node *node,
                              const struct range *range, struct glcnn_image **image)
{
    struct glcnn_image *whole = r->images[node->index];
    if (r->whole[node->index] && r->sub_batches > 1)
        return image_range_view(whole, range->first, range->count, image);
    *image = image_retain(whole);
    return GLCNN_SUCCESS;
}

static glcnn_status make_image(const struct recording *r, bool wanted,
                               const struct glcnn_image_descriptor *descriptor,
                               struct glcnn_image **image)
{
    if (wanted)
        return glcnn_image_create(r->graph->device, descriptor, image);
    glcnn_status status = glcnn_temporary_image_create(r->command_buffer, descriptor, image);
    /* Released by drop_image, once all readers are recorded. */
    return status == GLCNN_SUCCESS ? glcnn_image_set_read_count(*image, INT32_MAX) : status;
}

/* What the node says, or else the graph: but a loss is summed up, which float16 is too short for. */
static glcnn_channel_format format_of(const struct recording *r,
                                      const struct glcnn_image_node *node)
{
    if (node->format)
        return node->format;
    bool is_loss = node->filter && node->filter->loss == node;
    return is_loss ? GLCNN_CHANNEL_FORMAT_FLOAT32 : r->graph->format;
}

/* The image that a node's result goes to, made at the first sub-batch where it is kept whole. */
static glcnn_status prepare_result(struct recording *r, const struct glcnn_image_node *node,
                                   const struct range *range,
                                   const struct glcnn_image_descriptor *descriptor,
                                   struct glcnn_image **image)
{
    struct glcnn_image_descriptor d = *descriptor;
    glcnn_status status = GLCNN_SUCCESS;
    d.channel_format = format_of(r, node);
    if (r->keeps_images)
        d.number_of_images = r->whole[node->index] ? r->batch : range->count;
    if (!r->images[node->index])
        status = make_image(r, r->graph->wanted[node->index], &d, &r->images[node->index]);
    return status == GLCNN_SUCCESS ? get_image(r, node, range, image) : status;
}

/* ---- Arguments ---- */

/* What an encode of a filter is given; references to be dropped by `release`. */
struct encode {
    struct glcnn_encode arguments;
    struct glcnn_state *state;       /* of an encode that makes an image again: NULL or its own */
    struct encode_settings settings; /* the kernel's, as this encode wants them */
    struct glcnn_image *views[5];
    size_t view_count;
};

static void release(struct encode *e)
{
    glcnn_state_destroy(&e->state);
    while (e->view_count) {
        struct glcnn_image *view = e->views[--e->view_count];
        if (view->command_buffer && view->parent && view->read_count)
            glcnn_image_set_read_count(view, 0);
        glcnn_image_destroy(&view);
    }
}

static glcnn_status take(struct recording *r, struct encode *e, const struct glcnn_image_node *node,
                         const struct range *range, struct glcnn_image **place)
{
    glcnn_status status = get_image(r, node, range, place);
    if (status != GLCNN_SUCCESS)
        return status;
    e->views[e->view_count++] = *place;
    if ((*place)->command_buffer && (*place)->parent)
        status = glcnn_image_set_read_count(*place, INT32_MAX);
    return status;
}

/* Where filters make several images of one, not all images of a graph have as many; those that a
 * filter reads together do. A gradient's are its state's to check. */
static glcnn_status check_images(const struct recording *r, const struct glcnn_filter_node *n)
{
    uint32_t images = r->images[n->sources[0]->index]->descriptor.number_of_images;
    for (size_t i = 1; i < n->source_count && !r->keeps_images && !n->forward; i++) {
        uint32_t own = r->images[n->sources[i]->index]->descriptor.number_of_images;
        if (own != images)
            return device_fail(r->graph->device, GLCNN_INVALID_ARGUMENT,
                               "graph: %s (%s): source %zu has %u images, source 0 has %u",
                               n->label, n->kernel->descriptor->name, i, own, images);
    }
    return GLCNN_SUCCESS;
}

/* A message's name of what makes the image. */
static const char *maker_of(const struct glcnn_image_node *image)
{
    return image->filter ? image->filter->label : image->handle ? image->handle : "an input";
}

/* What is gathered lies side by side in channels: sizes agree (spec 7.13). */
static glcnn_status check_gathered(const struct recording *r, const struct glcnn_filter_node *n)
{
    const struct glcnn_image_descriptor *first = &r->images[n->sources[0]->index]->descriptor;
    for (size_t i = 1; i < n->source_count; i++) {
        const struct glcnn_image_descriptor *own = &r->images[n->sources[i]->index]->descriptor;
        if (own->width != first->width || own->height != first->height)
            return device_fail(r->graph->device, GLCNN_INVALID_ARGUMENT,
                               "graph: %s (%s): source %zu, %s, has %ux%u pixels, and source 0, "
                               "%s, %ux%u; they must agree: crop, pad or resize one of the two",
                               n->label, n->kernel->descriptor->name, i, maker_of(n->sources[i]),
                               own->width, own->height, maker_of(n->sources[0]), first->width,
                               first->height);
    }
    return GLCNN_SUCCESS;
}

/* Sources of a node by place; a concatenation takes them one by one. */
static glcnn_status take_sources(struct recording *r, struct encode *e,
                                 const struct graph_filter *f, const struct range *range,
                                 size_t only)
{
    const struct glcnn_filter_node *n = f->node;
    bool labels = n->loss != NULL;
    struct glcnn_image **const places[] = {&e->arguments.source,
                                           labels ? &e->arguments.labels : &e->arguments.secondary,
                                           &e->arguments.label_weights};
    bool gathers = n->kernel->descriptor->flags & GATHERS;
    glcnn_status status = check_images(r, n);
    if (status == GLCNN_SUCCESS && gathers)
        status = check_gathered(r, n);
    if (status == GLCNN_SUCCESS && gathers)
        return take(r, e, n->sources[only], range, places[0]);
    for (size_t i = 0; i < n->source_count && status == GLCNN_SUCCESS; i++)
        status = take(r, e, n->sources[i], range, places[i]);
    return status;
}

/* The state that a gradient reads and leaves its sums in: its forward filter's, or a branch of it.
 */
static glcnn_status take_forward_state(struct recording *r, struct encode *e,
                                       const struct graph_filter *f, size_t index,
                                       const struct range *range)
{
    const struct glcnn_filter_node *n = f->node;
    const struct glcnn_descriptor *d = n->forward->kernel->descriptor;
    uint32_t sub_batch = d->flags & SHARED_STATE ? 0 : range->sub_batch;
    struct glcnn_state *forward =
        recording_state(r, graph_find_filter(r->graph, n->forward), sub_batch,
                        d->flags & GATHERS ? n->forward_source : 0);
    struct glcnn_state **own = recording_state_at(r, index, sub_batch, 0);
    glcnn_status status = GLCNN_SUCCESS;
    if (update_sums_apart(f) && !*own)
        status = state_branch(forward, own);
    e->arguments.state = *own ? *own : forward;
    return status;
}

/* What recomputes an image reads what the first encode left in its state, and leaves that as it is. */
static glcnn_status branch_state(struct encode *e)
{
    if (!e->arguments.state)
        return GLCNN_SUCCESS;
    glcnn_status status = state_branch(e->arguments.state, &e->state);
    e->arguments.state = e->state;
    return status;
}

/* The state that an encode fills or reads: its own, its forward filter's, or one that gives sizes.
 */
static glcnn_status take_state(struct recording *r, struct encode *e, const struct graph_filter *f,
                               size_t index, const struct range *range, size_t source)
{
    const struct glcnn_filter_node *n = f->node;
    uint32_t sub_batch = n->kernel->descriptor->flags & SHARED_STATE ? 0 : range->sub_batch;
    struct glcnn_state **state;
    if (n->forward)
        return take_forward_state(r, e, f, index, range);
    if (n->source_state) {
        e->arguments.state =
            recording_state(r, graph_find_filter(r->graph, n->source_state->filter), 0, 0);
        return GLCNN_SUCCESS;
    }
    if (!f->makes_state)
        return GLCNN_SUCCESS;
    state = recording_state_at(r, index, sub_batch, source);
    if (!*state) {
        glcnn_status status = glcnn_kernel_result_state(NULL, n->kernel, &e->arguments, state);
        if (status != GLCNN_SUCCESS)
            return status;
    }
    e->arguments.state = *state;
    return GLCNN_SUCCESS;
}

/* ---- Encodes ---- */

/* Channels of a concatenation: each source but the last is padded to 4. */
static uint32_t gathered_channels(const struct recording *r, const struct graph_filter *f,
                                  size_t sources)
{
    uint32_t channels = 0;
    for (size_t i = 0; i < sources; i++) {
        uint32_t own = r->images[f->node->sources[i]->index]->descriptor.feature_channels;
        channels = (channels + 3) / 4 * 4 + own;
    }
    return channels;
}

/* The loss image's descriptor, by that of the gradient beside it. */
static struct glcnn_image_descriptor loss_descriptor(const struct glcnn_kernel *kernel,
                                                     const struct glcnn_image_descriptor *gradient)
{
    const struct glcnn_descriptor *d = kernel->descriptor;
    struct operation operation = {.descriptor = d, .parameters = kernel->parameters};
    struct glcnn_image_descriptor loss;
    operation.images[descriptor_place(d, PLACE_DESTINATION)] =
        (struct image_view){.width = gradient->width,
                            .height = gradient->height,
                            .channels = gradient->feature_channels,
                            .images = gradient->number_of_images};
    d->image_shape(&operation, (size_t)descriptor_place(d, PLACE_LOSS), &loss);
    return loss;
}

static glcnn_status prepare_destination(struct recording *r, struct encode *e,
                                        const struct graph_filter *f, const struct range *range)
{
    struct glcnn_image_descriptor descriptor;
    const struct glcnn_filter_node *n = f->node;
    glcnn_status status =
        encode_describe(NULL, n->kernel, &e->settings, &e->arguments, &descriptor);
    if (status != GLCNN_SUCCESS)
        return status;
    if (n->kernel->descriptor->flags & GATHERS)
        descriptor.feature_channels = gathered_channels(r, f, n->source_count);
    status =
        prepare_result(r, graph_filter_result(f), range, &descriptor, &e->arguments.destination);
    if (status != GLCNN_SUCCESS)
        return status;
    e->views[e->view_count++] = e->arguments.destination;
    if (!f->makes_loss)
        return GLCNN_SUCCESS;
    descriptor = loss_descriptor(n->kernel, &descriptor);
    status = prepare_result(r, n->loss, range, &descriptor, &e->arguments.loss);
    if (status == GLCNN_SUCCESS)
        e->views[e->view_count++] = e->arguments.loss;
    return status;
}

static bool has_gradient_option(const struct glcnn_kernel *kernel)
{
    double unused;
    return parameter_get(kernel->descriptor, &kernel->properties, kernel->parameters,
                         "gradient_option", &unused);
}

/* Without the option a gradient computes its image along with those of weights, read or not. */
static bool has_destination(const struct graph_filter *f)
{
    return f->makes_result || !(f->node->kernel->descriptor->flags & IS_GRADIENT) ||
           !has_gradient_option(f->node->kernel);
}

/* What the gradient of a filter with weights computes. */
static glcnn_status set_gradient_option(const struct graph_filter *f,
                                        struct encode_settings *settings)
{
    const struct glcnn_kernel *kernel = f->node->kernel;
    if (!has_gradient_option(kernel))
        return GLCNN_SUCCESS;
    settings->trainable = f->node->forward->kernel->trainable;
    return encode_settings_set(kernel, settings, "gradient_option",
                               (f->makes_result ? 1 : 0) + (f->updates ? 2 : 0));
}

/* Takes over the descriptor of the neuron that the filter computes too. */
static glcnn_status set_fused_neuron(const struct graph_filter *f, struct encode_settings *settings)
{
    static const char *const names[] = {"neuron_type", "neuron_a", "neuron_b", "neuron_c"};
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < sizeof names / sizeof *names && status == GLCNN_SUCCESS; i++) {
        double value = 0;
        glcnn_kernel_get(f->fused->kernel, names[i], &value);
        status = encode_settings_set(f->node->kernel, settings, names[i], value);
    }
    return status;
}

/* A gradient kernel may have been addressed for images of other sizes, by the user or by what it
 * was read from. It has the weights of its forward kernel. */
static glcnn_status set_gradient(const struct graph_filter *f, const struct glcnn_state *state,
                                 struct encode_settings *settings)
{
    if (state)
        encode_settings_adopt(f->node->kernel, &state->forward, settings);
    settings->vectors_of = f->node->forward->kernel;
    return set_gradient_option(f, settings);
}

/* ---- Results that are not stored ---- */

/* Windows that overlap read a pixel more than once. */
static bool overlaps(const struct glcnn_filter_node *n)
{
    const struct glcnn_kernel *kernel = n->forward ? n->forward->kernel : n->kernel;
    const struct glcnn_source_properties *p = &kernel->properties.primary;
    return kernel->descriptor->flags & HAS_WINDOW &&
           (p->kernel_width > p->stride_in_pixels_x || p->kernel_height > p->stride_in_pixels_y);
}

/* One pixel of a source, or one channel, may be read by all results. */
static bool broadcasts(const struct glcnn_filter_node *n)
{
    const struct glcnn_kernel *kernel = n->forward ? n->forward->kernel : n->kernel;
    const struct glcnn_source_properties *p = &kernel->properties.primary,
                                         *q = &kernel->properties.secondary;
    return descriptor_broadcasts(kernel->descriptor) &&
           !(p->stride_in_pixels_x && p->stride_in_pixels_y && p->stride_in_feature_channels &&
             q->stride_in_pixels_x && q->stride_in_pixels_y && q->stride_in_feature_channels);
}

static bool may_read_fused(const struct glcnn_kernel *kernel)
{
    return kernel->descriptor->flags & (READS_FUSED | READS_NEURONS);
}

/* As the gradient that arrives, where the filter makes none for the layers before it. */
static bool reads_once(const struct graph_filter *f, const struct glcnn_image_node *image)
{
    const struct glcnn_kernel *kernel = f->node->kernel;
    bool once = kernel->descriptor->reads_gradient_once &&
                kernel->descriptor->reads_gradient_once(kernel->parameters);
    return once && !f->makes_result && f->node->sources[0] == image && f->node->sources[1] != image;
}

/* The gradient of a layer some of whose channels are trained reads a part of what is stored. */
static bool trains_in_part(const struct graph_filter *f)
{
    return f->node->forward && f->node->forward->kernel->trainable.count > 0;
}

/* Coefficients are read for each pixel that is made with them: too much for each of many outputs. */
static bool makes_for_many(const struct graph_filter *f, const struct glcnn_kernel *maker)
{
    return f->node->kernel->descriptor->flags & READS_NEURONS && maker->descriptor->prepare_fusion;
}

/* True if it may make the image, which `maker` would store. */
static bool reads_fused(const struct graph_filter *f, const struct glcnn_image_node *image,
                        const struct glcnn_kernel *maker)
{
    bool collector = !f->collects || may_read_fused(f->node->collector);
    bool pixels =
        may_read_fused(f->node->kernel) && !overlaps(f->node) && !makes_for_many(f, maker);
    return collector && !trains_in_part(f) && (pixels || reads_once(f, image));
}

/* Textures and buffers of a pass. */
struct bindings {
    uint32_t textures, buffers;
};

/* More than any pass of the descriptor has of its own, with the kernel's neuron; the one is what a sum
 * leaves its runs in. */
static struct bindings own_bindings(const struct glcnn_descriptor *d,
                                    const struct glcnn_kernel *kernel)
{
    struct bindings own = {0, 1};
    const struct argument *argument;
    for (size_t i = 0; (argument = descriptor_argument_at(d, i)); i++)
        if (!lacks_slopes(kernel, argument->name))
            *(argument_is_image(argument) ? &own.textures : &own.buffers) += 1;
    return own;
}

static uint32_t share(uint32_t limit, uint32_t used, uint32_t places)
{
    return limit > used ? (limit - used) / places : 0;
}

/* What is left of `limit` for each place where the filter reads the image, with all else that it
 * reads and that is not stored. */
static struct bindings left_by_reader(const struct recording *r, const struct graph_filter *f,
                                      const struct glcnn_image_node *image, struct bindings limit)
{
    struct bindings used = own_bindings(f->node->kernel->descriptor, f->node->kernel);
    uint32_t places = 0;
    if (f->collects) {
        struct bindings other = own_bindings(f->node->collector->descriptor, f->node->kernel);
        used.buffers = other.buffers > used.buffers ? other.buffers : used.buffers;
    }
    for (size_t s = 0; s < f->node->source_count; s++) {
        const struct made_image *other = &r->made[f->node->sources[s]->index];
        places += f->node->sources[s] == image;
        used.textures += other->fused ? other->textures : 0;
        used.buffers += other->fused ? other->buffers : 0;
    }
    if (f->node->kernel->descriptor->flags & READS_NEURONS && !reads_once(f, image))
        limit.buffers = 0;
    return (struct bindings){share(limit.textures, used.textures, places),
                             share(limit.buffers, used.buffers, places)};
}

static bool reads(const struct graph_filter *f, const struct glcnn_image_node *image)
{
    for (size_t s = 0; s < f->node->source_count; s++)
        if (f->node->sources[s] == image)
            return !f->skipped;
    return false;
}

/* Registers for the sums of a collector, and for what makes a pixel besides. */
#define COLLECTOR_REGISTERS 12
#define FEW_FUNCTIONS       2 /* that make a pixel where there are fewer */

static bool lacks_registers(const struct recording *r)
{
    return r->graph->device->info.traits.registers < COLLECTOR_REGISTERS;
}

/* Passes of the filter that read the image, each pixel about once; 0: they read some pixels often,
 * as where all results read one, or all pixels of a window read its gradient, or lack registers. */
static uint32_t passes_of_reader(const struct recording *r, const struct graph_filter *f,
                                 const struct glcnn_image_node *image)
{
    const struct glcnn_filter_node *n = f->node;
    bool lacks = f->collects && lacks_registers(r);
    unsigned flags = n->kernel->descriptor->flags;
    unsigned all = f->collects ? flags & n->collector->descriptor->flags : flags;
    bool spreads = flags & HAS_WINDOW && flags & IS_GRADIENT && n->sources[0] == image;
    if (!(all & READS_FUSED) || overlaps(n) || broadcasts(n) || spreads || lacks)
        return 0;
    uint32_t places = 0;
    for (size_t s = 0; s < n->source_count; s++)
        places += n->sources[s] == image;
    return f->collects ? 2 * places : places;
}

/* Passes that read the image so, or what hands it on as it is; 0: some read pixels often. */
static uint32_t passes_reading_once(const struct recording *r, const struct glcnn_image_node *image)
{
    uint32_t passes = 0;
    for (size_t i = 0; i < r->graph->filter_count; i++) {
        const struct graph_filter *f = &r->graph->filters[i];
        if (!reads(f, image))
            continue;
        bool hands_on =
            f->node->kernel->descriptor->flags & MAY_COPY && f->node->sources[0] == image;
        uint32_t own = hands_on ? passes_reading_once(r, graph_filter_result(f))
                                : passes_of_reader(r, f, image);
        if (own == 0)
            return 0;
        passes += own;
    }
    return passes;
}

/* GLCNN_DEBUG=verify makes what is not stored of the images that it was recorded with. The user's
 * change: what is made of these is stored. */
static bool is_stored_to_verify(const struct recording *r, const struct graph_filter *f)
{
    for (size_t s = 0; s < f->node->source_count; s++)
        if (!f->node->sources[s]->filter)
            return r->graph->device->checks & DEBUG_VERIFY;
    return false;
}

static bool is_chosen_to_be_stored(const struct recording *r, const struct glcnn_image_node *image)
{
    return r->sub_batches > 1 || (r->stored && r->stored[image->index]);
}

/* How all readers of a result may make it: what is wanted is stored. */
static enum fusion most_by_readers(const struct recording *r, const struct graph_filter *f)
{
    const struct glcnn_image_node *result = graph_filter_result(f);
    if (r->graph->wanted[result->index] || is_chosen_to_be_stored(r, result) ||
        !r->command_buffer->deferred || is_stored_to_verify(r, f))
        return FUSION_NONE;
    for (size_t i = 0; i < r->graph->filter_count; i++) {
        const struct graph_filter *reader = &r->graph->filters[i];
        if (reads(reader, result) && !reads_fused(reader, result, f->node->kernel))
            return FUSION_COPY;
    }
    return FUSION_PIXELS;
}

/* Registers that a texel and what is made of it take, of each texture that an image is made of. */
#define TEXTURE_REGISTERS 3

static struct bindings left_by_readers(const struct recording *r,
                                       const struct glcnn_image_node *image)
{
    const struct glcnn_limits *limits = &r->graph->device->info.limits;
    /* A reader has an image beside its buffers. */
    uint32_t buffers = least(limits->storage_blocks, limits->output_resources - 1);
    const struct bindings limit = {least(PASS_TEXTURES, limits->texture_units),
                                   least(PASS_BUFFERS, buffers)};
    struct bindings most = {
        least(limit.textures, r->graph->device->info.traits.registers / TEXTURE_REGISTERS),
        limit.buffers};
    for (size_t i = 0; i < r->graph->filter_count; i++) {
        if (!reads(&r->graph->filters[i], image))
            continue;
        struct bindings left = left_by_reader(r, &r->graph->filters[i], image, limit);
        most.textures = least(most.textures, left.textures);
        most.buffers = least(most.buffers, left.buffers);
    }
    return most;
}

/* Functions that may make each other's sources. In float16 each rounds, which takes half of the registers. */
static uint32_t most_functions(const struct recording *r, const struct glcnn_image_node *result)
{
    bool rounds = format_of(r, result) == GLCNN_CHANNEL_FORMAT_FLOAT16;
    uint32_t registers = r->graph->device->info.traits.registers / (rounds ? 2 : 1);
    return registers < COLLECTOR_REGISTERS ? FEW_FUNCTIONS : PASS_LIBRARIES;
}

static struct fusion_limits fusion_limits_of(const struct recording *r,
                                             const struct graph_filter *f)
{
    const struct glcnn_image_node *result = graph_filter_result(f);
    struct bindings left = left_by_readers(r, result);
    struct fusion_limits limits = {.most = most_by_readers(r, f),
                                   .textures = left.textures,
                                   .buffers = left.buffers,
                                   .functions = most_functions(r, result)};
    if (limits.most == FUSION_PIXELS)
        limits.readers = passes_reading_once(r, result);
    if (limits.readers > 0)
        limits.most = FUSION_ONCE;
    return limits;
}

/* What is recomputed is fused or stored as it was at first: its readers get the same bits. */
static void set_fusion(const struct recording *r, const struct graph_filter *f,
                       struct encode_settings *settings)
{
    struct made_image *made = &r->made[graph_filter_result(f)->index];
    if (!made->made)
        made->fusion_limits = fusion_limits_of(r, f);
    settings->fusion = made->fusion_limits;
}

static void keep_made(const struct recording *r, const struct graph_filter *f)
{
    struct made_image *made = &r->made[graph_filter_result(f)->index];
    const struct glcnn_image *image = r->images[graph_filter_result(f)->index];
    const struct fused_producer *producer = image->storage ? image->storage->producer : NULL;
    made->made = true;
    made->storage = image->storage;
    made->fused = producer;
    made->textures = producer ? producer->textures : 0;
    made->buffers = producer ? producer->buffers : 0;
    made->size = glcnn_image_resource_size(image);
}

/* Whatever this encode of a filter wants to be other than the node's kernel says. */
static glcnn_status prepare_settings(struct recording *r, struct encode *e,
                                     const struct graph_filter *f, size_t source)
{
    glcnn_status status = GLCNN_SUCCESS;
    e->settings.follows_kernel = f->node->loss;
    if (f->node->loss && loss_scale_is_used(r->graph))
        e->settings.gradient_scale = &r->graph->loss_scale.scale;
    if (f->node->forward)
        status = set_gradient(f, e->arguments.state, &e->settings);
    if (status == GLCNN_SUCCESS && f->fused)
        status = set_fused_neuron(f, &e->settings);
    set_fusion(r, f, &e->settings);
    if (f->node->kernel->descriptor->flags & GATHERS)
        e->settings.properties.destination_feature_channel_offset =
            (gathered_channels(r, f, source) + 3) / 4 * 4;
    return status;
}

static glcnn_status encode_source(struct recording *r, const struct record_step *step,
                                  const struct range *range, size_t source)
{
    const struct graph_filter *f = filter_of(r, step);
    struct glcnn_kernel *kernel = step->collector ? f->node->collector : f->node->kernel;
    struct encode e = {.settings = encode_settings_of(kernel)};
    glcnn_status status = take_sources(r, &e, f, range, source);
    if (status == GLCNN_SUCCESS)
        status = take_state(r, &e, f, step->filter, range, source);
    if (status == GLCNN_SUCCESS && step->recomputes)
        status = branch_state(&e);
    if (status == GLCNN_SUCCESS && !step->collector)
        status = prepare_settings(r, &e, f, source);
    if (status == GLCNN_SUCCESS && !step->collector && has_destination(f))
        status = prepare_destination(r, &e, f, range);
    if (status == GLCNN_SUCCESS)
        status = encode_with(r->command_buffer, kernel, &e.settings, &e.arguments);
    if (status == GLCNN_SUCCESS && e.arguments.destination)
        keep_made(r, f);
    if (e.state) /* passes keep what they write of it */
        r->command_buffer->held_size += recording_state_size(e.state);
    release(&e);
    return status;
}

/* The next pass from `*at` on that is refreshed before commits. */
static struct pass *next_refreshed(const struct recording *r, size_t *at)
{
    while (*at < r->command_buffer->pass_count) {
        struct pass *pass = &r->command_buffer->passes[(*at)++];
        if (pass->refresh)
            return pass;
    }
    return NULL;
}

/* Random numbers that were drawn when an image was made first are drawn again. */
static void repeat_refreshed(const struct recording *r, const struct record_step *step)
{
    size_t first = r->made[graph_filter_result(filter_of(r, step))->index].first_pass;
    size_t second = step->first_pass;
    struct pass *pass;
    while ((pass = next_refreshed(r, &second)))
        pass->issue.uniforms_from = next_refreshed(r, &first)->issue.uniforms_id = (uint32_t)first;
}

static void begin_step(struct recording *r, struct record_step *step)
{
    const struct graph_filter *f = filter_of(r, step);
    struct made_image *made = &r->made[graph_filter_result(f)->index];
    step->first_pass = r->command_buffer->pass_count;
    if (step->collector)
        return;
    r->last_reader[graph_filter_result(f)->index] = step->last_reader;
    if (f->node->loss)
        r->last_reader[f->node->loss->index] = step->last_loss_reader;
    if (!made->made)
        made->first_pass = step->first_pass;
}

static glcnn_status encode_step(struct recording *r, struct record_step *step,
                                const struct range *range)
{
    const struct graph_filter *f = filter_of(r, step);
    bool gathers = f->node->kernel->descriptor->flags & GATHERS;
    glcnn_status status = GLCNN_SUCCESS;
    begin_step(r, step);
    for (size_t i = 0; i < (gathers ? f->node->source_count : 1) && status == GLCNN_SUCCESS; i++)
        status = encode_source(r, step, range, i);
    if (status == GLCNN_SUCCESS && step->recomputes)
        repeat_refreshed(r, step);
    return status;
}

/* Images that nothing reads after the step; those kept whole go with the last sub-batch. */
static void drop_read_images(struct recording *r, size_t step, const struct range *range)
{
    const struct graph_filter *f = filter_of(r, &r->steps[step]);
    const struct glcnn_filter_node *n = f->node;
    bool last = range->first + range->count == r->batch;
    for (size_t i = 0; i <= n->source_count; i++) {
        size_t image = i < n->source_count ? n->sources[i]->index : graph_filter_result(f)->index;
        bool done = r->last_reader[image] == step ||
                    (i == n->source_count && r->last_reader[image] == SIZE_MAX);
        bool input = i < n->source_count && !n->sources[i]->filter;
        if (done && !input && !r->graph->wanted[image] && (last || !r->whole[image]))
            recording_drop_image(r, image);
    }
}

static struct range part(const struct recording *r, uint32_t index)
{
    uint32_t first = (uint32_t)((uint64_t)r->batch * index / r->sub_batches);
    uint32_t next = (uint32_t)((uint64_t)r->batch * (index + 1) / r->sub_batches);
    return (struct range){index, first, next - first};
}

/* A layer that trains and normalises by the one value of a channel would make beta of it, learn no
 * gamma, pass back no gradient and average variances of 0. */
static glcnn_status check_samples(const struct recording *r, size_t filter)
{
    const struct graph_filter *f = &r->graph->filters[filter];
    const struct glcnn_state *state = recording_state(r, filter, 0, 0);
    if (!f->has_gradient || !state || state->samples != 1)
        return GLCNN_SUCCESS;
    return device_fail(r->graph->device, GLCNN_INVALID_ARGUMENT,
                       "graph: %s (%s): the batch has one value for each channel, 1 image of 1x1; "
                       "in training it normalises by more: give more images a batch, or larger "
                       "ones",
                       f->node->label, f->node->kernel->descriptor->name);
}

/* Behind a collector, through which the whole batch has gone. */
static glcnn_status finish_collector(struct recording *r, size_t filter)
{
    glcnn_status status = exchange_record_statistics(r, filter);
    return status == GLCNN_SUCCESS ? check_samples(r, filter) : status;
}

static glcnn_status record_segments(struct recording *r)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t first = 0, end; first < r->step_count; first = end) {
        for (end = first; end < r->step_count && r->steps[end].segment == r->steps[first].segment;)
            end++;
        for (uint32_t b = 0; b < r->sub_batches; b++) {
            struct range range = part(r, b);
            for (size_t s = first; s < end && status == GLCNN_SUCCESS; s++) {
                status = encode_step(r, &r->steps[s], &range);
                if (status == GLCNN_SUCCESS)
                    drop_read_images(r, s, &range);
            }
        }
        if (status == GLCNN_SUCCESS && r->steps[end - 1].collector)
            status = finish_collector(r, r->steps[end - 1].filter);
    }
    return status;
}

/* ---- The whole ---- */

glcnn_status recording_make(struct recording *r, const struct glcnn_graph *graph,
                            struct glcnn_command_buffer *command_buffer,
                            struct glcnn_image *const *sources, const struct memory_choice *choice)
{
    command_buffer->workspace_limit = choice->workspace;
    glcnn_status status = recording_begin(r, graph, command_buffer, sources, choice);
    if (status != GLCNN_SUCCESS)
        return status;
    status = exchange_create(r);
    if (status == GLCNN_SUCCESS)
        status = record_segments(r);
    r->step_passes = command_buffer->pass_count;
    if (status == GLCNN_SUCCESS)
        status = update_record(r);
    if (command_buffer->deferred)
        stores_plan(graph->device, command_buffer->passes, command_buffer->pass_count,
                    choice->stores);
    return status;
}

void recording_free(struct recording *r)
{
    multi_tensor_steps_free(&r->multi_tensor_steps);
    glcnn_buffer_destroy(&r->gradient_sum);
    accumulation_free(r);
    exchange_destroy(&r->exchange);
    recording_end(r);
}
