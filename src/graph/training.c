/* The data source that trains weights where they are. */
#include "glcnn/training.h"

#include <stdlib.h>
#include <string.h>

#include "encode/number.h"
#include "graph/update.h"
#include "encode/state.h"

struct trainer {
    struct glcnn_kernel *kernel; /* whose weights; it owns the trainer */
    struct glcnn_kernel *optimizer;
    double running_momentum;
    struct glcnn_buffer *first[PLACES], *second[PLACES]; /* NULL until needed */
};

static int place_of(const char *vector)
{
    for (const struct trained_vector *v = trained_vectors; v->name; v++)
        if (strcmp(v->name, vector) == 0)
            return v->place;
    return -1;
}

/* ---- State vectors ---- */

/* How many state vectors the optimizer keeps for each vector. */
static unsigned vectors_kept(const struct glcnn_kernel *optimizer)
{
    return optimizer->descriptor->optimizer->state_vectors(optimizer->parameters);
}

static glcnn_status need(struct trainer *t, int place, size_t size)
{
    struct glcnn_buffer **const vectors[] = {&t->first[place], &t->second[place]};
    glcnn_status status = GLCNN_SUCCESS;
    for (unsigned i = 0; i < vectors_kept(t->optimizer) && status == GLCNN_SUCCESS; i++)
        if (!*vectors[i])
            status = glcnn_buffer_create(t->kernel->device, size, vectors[i]);
    return status;
}

/* ---- Some of the channels ---- */

/* Those elements of a vector of the kernel's of the output channels that are trained. */
static struct vector_view trained_part(const struct glcnn_kernel *kernel,
                                       struct glcnn_buffer *vector, size_t length)
{
    double outputs = 1;
    if (!kernel->trainable.count)
        return (struct vector_view){vector, 0, length};
    parameter_get(kernel->descriptor, &kernel->properties, kernel->parameters,
                  "output_feature_channels", &outputs);
    size_t each = length / (size_t)outputs;
    return (struct vector_view){vector, kernel->trainable.first * each,
                                kernel->trainable.count * each};
}

/* Copies between the kernel's vectors and those of `part`, which hold the trained channels; `back`: to
 * the kernel's. */
static glcnn_status copy_parts(const struct trainer *t, glcnn_command_buffer *command_buffer,
                               glcnn_state *whole, glcnn_state *part, bool back)
{
    struct plan plan;
    plan_begin(&plan, command_buffer);
    for (size_t i = 0; i < whole->vector_count && plan.status == GLCNN_SUCCESS; i++) {
        const struct state_vector *values = &whole->vectors[i];
        struct state_vector *own;
        if (trained_argument(t->kernel, values->name) < 0)
            continue;
        struct vector_view view = trained_part(t->kernel, values->buffer, values->buffer->size / 4);
        plan.status = state_vector(part, values->name, view.count, false, &own);
        if (plan.status != GLCNN_SUCCESS)
            continue;
        struct vector_view own_view = {own->buffer, 0, view.count};
        own->filled = true;
        plan_copy_vector(&plan, back ? &own_view : &view, back ? &view : &own_view);
    }
    return plan_end(&plan);
}

/* ---- Callbacks ---- */

static glcnn_status step(struct trainer *t, glcnn_command_buffer *command_buffer,
                         glcnn_state *gradient_state, glcnn_state *source_state)
{
    unsigned kept = vectors_kept(t->optimizer);
    glcnn_status status = GLCNN_SUCCESS;
    size_t count = 0;
    for (const struct trained_vector *v = trained_vectors; v->name && status == GLCNN_SUCCESS;
         v++) {
        glcnn_buffer *values = glcnn_state_vector(source_state, v->name);
        if (!values || trained_argument(t->kernel, v->name) < 0)
            continue;
        status = need(t, v->place, glcnn_buffer_size(values));
        count++;
    }
    return status == GLCNN_SUCCESS
               ? t->optimizer->descriptor->optimizer->encode(
                     command_buffer, t->optimizer, gradient_state, source_state,
                     kept > 0 ? t->first : NULL, kept > 1 ? t->second : NULL, count, source_state)
               : status;
}

/* An optimizer steps whole vectors: the trained channels are copied to one and back. */
static glcnn_status step_part(struct trainer *t, glcnn_command_buffer *command_buffer,
                              glcnn_state *gradient_state, glcnn_state *source_state)
{
    glcnn_state *part = NULL;
    glcnn_status status = state_create(t->kernel->device, NULL, &part);
    if (status == GLCNN_SUCCESS)
        status = copy_parts(t, command_buffer, source_state, part, false);
    if (status == GLCNN_SUCCESS)
        status = step(t, command_buffer, gradient_state, part);
    if (status == GLCNN_SUCCESS)
        status = copy_parts(t, command_buffer, source_state, part, true);
    glcnn_state_destroy(&part);
    return status;
}

static glcnn_status update(void *context, glcnn_command_buffer *command_buffer,
                           glcnn_state *gradient_state, glcnn_state *source_state,
                           glcnn_state **updated)
{
    struct trainer *t = context;
    glcnn_status status = (t->kernel->trainable.count ? step_part : step)(
        t, command_buffer, gradient_state, source_state);
    if (status == GLCNN_SUCCESS)
        *updated = source_state;
    return status;
}

/* The kernel's vector, made neutral if there is none yet, of the length of `like`. */
static glcnn_status running_vector(struct glcnn_kernel *kernel, const char *name,
                                   const glcnn_buffer *like, glcnn_buffer **vector)
{
    return kernel_vector(kernel, (size_t)descriptor_argument(kernel->descriptor, name),
                         glcnn_buffer_size(like) / 4, vector);
}

/* Each recording has a kernel of its own: the count of pixels differs with the batch. */
static glcnn_status make_averager(const struct trainer *t, uint64_t samples,
                                  struct glcnn_kernel **average)
{
    glcnn_status status =
        glcnn_kernel_create(t->kernel->device, t->kernel->descriptor->averager, average);
    if (status == GLCNN_SUCCESS)
        status = glcnn_kernel_set(*average, "momentum", t->running_momentum);
    if (status == GLCNN_SUCCESS)
        status = glcnn_kernel_set(*average, "samples", (double)samples);
    return status;
}

static glcnn_status make_average(const struct trainer *t, struct glcnn_state *state,
                                 struct average *average)
{
    *average = (struct average){.mean = glcnn_state_vector(state, "mean"),
                                .variance = glcnn_state_vector(state, "variance")};
    if (!average->mean || !average->variance)
        return device_fail(t->kernel->device, GLCNN_INVALID_STATE,
                           "%s: there are no batch statistics to average",
                           kernel_display_name(t->kernel));
    glcnn_status status = running_vector(t->kernel, "mean", average->mean, &average->running_mean);
    if (status == GLCNN_SUCCESS)
        status =
            running_vector(t->kernel, "variance", average->variance, &average->running_variance);
    return status == GLCNN_SUCCESS ? make_averager(t, state->samples, &average->kernel) : status;
}

static glcnn_status update_statistics(void *context, glcnn_command_buffer *command_buffer,
                                      glcnn_state *state, glcnn_state **updated)
{
    struct average a;
    (void)updated;
    glcnn_status status = make_average(context, state, &a);
    if (status == GLCNN_SUCCESS)
        status = glcnn_kernel_encode(
            command_buffer, a.kernel,
            &(struct glcnn_encode){
                .vectors = {a.mean, a.variance, a.running_mean, a.running_variance}});
    glcnn_kernel_destroy(&a.kernel);
    return status;
}

static void destroy(void *context)
{
    struct trainer *t = context;
    for (int p = 0; p < PLACES; p++) {
        glcnn_buffer_destroy(&t->first[p]);
        glcnn_buffer_destroy(&t->second[p]);
    }
    glcnn_kernel_destroy(&t->optimizer);
    free(t);
}

/* A copy of a kernel has no weights in common with it, so it trains by itself or not at all. */
static void *refuse_copy(void *context, glcnn_device *device)
{
    (void)context;
    (void)device;
    return NULL;
}

/* ---- Making ---- */

static bool is_optimizer(const struct glcnn_kernel *kernel)
{
    return kernel && kernel->descriptor->optimizer;
}

static glcnn_status make(struct glcnn_kernel *kernel,
                         const struct glcnn_training_descriptor *descriptor,
                         struct trainer **trainer)
{
    struct trainer *made = calloc(1, sizeof *made);
    if (!made)
        return device_fail(kernel->device, GLCNN_OUT_OF_MEMORY, "out of memory making a trainer");
    made->kernel = kernel;
    made->running_momentum = descriptor->running_momentum;
    if (made->running_momentum == 0)
        parameter_get(kernel->descriptor, &kernel->properties, kernel->parameters,
                      "running_momentum", &made->running_momentum);
    glcnn_status status =
        glcnn_kernel_copy(descriptor->optimizer, kernel->device, &made->optimizer);
    if (status != GLCNN_SUCCESS) {
        free(made);
        return status;
    }
    *trainer = made;
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_kernel_set_training(glcnn_kernel *kernel,
                                       const struct glcnn_training_descriptor *descriptor)
{
    struct trainer *trainer = NULL;
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    if (!descriptor || !is_optimizer(descriptor->optimizer))
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: glcnn_kernel_set_training: there is no optimizer",
                           kernel_display_name(kernel));
    if (!(descriptor->running_momentum >= 0 && descriptor->running_momentum <= 1))
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: glcnn_kernel_set_training: running_momentum is %s, not in 0 .. 1",
                           kernel_display_name(kernel),
                           number_format((char[NUMBER_TEXT]){0}, descriptor->running_momentum));
    glcnn_status status = make(kernel, descriptor, &trainer);
    if (status != GLCNN_SUCCESS)
        return status;
    const struct glcnn_data_source source = {
        .context = trainer,
        .feature_channels = descriptor->feature_channels,
        .update = update,
        .update_statistics = kernel->descriptor->averager ? update_statistics : NULL,
        .copy = refuse_copy,
        .destroy = destroy};
    status = glcnn_kernel_set_data_source(kernel, &source);
    if (status != GLCNN_SUCCESS)
        destroy(trainer);
    return status;
}

glcnn_status glcnn_kernel_set_training_channels(glcnn_kernel *kernel, uint32_t first,
                                                uint32_t count)
{
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    const struct glcnn_descriptor *d = kernel->descriptor;
    const struct glcnn_descriptor *gradient = d->gradient ? descriptor_find(d->gradient) : NULL;
    if (!gradient || !(gradient->flags & TRAINS_IN_PART))
        return device_fail(
            kernel->device, GLCNN_INVALID_ARGUMENT,
            "%s: glcnn_kernel_set_training_channels: its gradient is made for all "
            "channels or none; those of a convolution or a fully connected layer can "
            "train in part",
            kernel_display_name(kernel));
    if (glcnn_kernel_data_source(kernel))
        return device_fail(kernel->device, GLCNN_INVALID_STATE,
                           "%s: glcnn_kernel_set_training_channels: it trains already; choose "
                           "channels before it has a data source",
                           kernel_display_name(kernel));
    kernel->trainable = (struct channel_range){first, count};
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_kernel_set_weight_rounding(glcnn_kernel *kernel, uint32_t levels,
                                              uint32_t scales)
{
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    const int index = kernel_kept_argument(kernel, "weights");
    if (index < 0)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: glcnn_kernel_set_weight_rounding: it has no vector \"weights\"; "
                           "convolutions and fully connected layers have one",
                           kernel_display_name(kernel));
    if (levels > GLCNN_WEIGHT_LEVELS_MAX || (levels > 0 && scales == 0))
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: glcnn_kernel_set_weight_rounding: %u levels and %u scales; "
                           "expected up to %d levels, and a scale or more",
                           kernel_display_name(kernel), levels, scales, GLCNN_WEIGHT_LEVELS_MAX);
    kernel->weight_rounding = (struct weight_rounding){levels, levels > 0 ? scales : 0};
    return GLCNN_SUCCESS;
}

/* ---- Networks ---- */

static uint32_t read_channels(const struct glcnn_source_properties *source, uint32_t channels)
{
    uint32_t offset = source->feature_channel_offset;
    return channels > offset ? least(source->feature_channel_max_count, channels - offset) : 0;
}

/* Each source but the last is padded to 4. */
static uint32_t gathered_channels(const struct glcnn_filter_node *n, const uint32_t *channels)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n->source_count; i++) {
        uint32_t own = channels[n->sources[i]->index];
        if (!own)
            return 0;
        sum = (sum + 3) / 4 * 4 + own;
    }
    return sum;
}

/* Of what a filter makes of images of so many; 0: only an encode tells. */
static uint32_t result_channels(const struct glcnn_filter_node *n, const uint32_t *channels)
{
    const struct glcnn_kernel *kernel = n->kernel;
    const struct glcnn_descriptor *d = kernel->descriptor;
    const struct glcnn_addressing *p = &kernel->properties;
    double outputs;
    if (parameter_get(d, p, kernel->parameters, "output_feature_channels", &outputs))
        return (uint32_t)outputs;
    if (d->shape || n->forward || p->destination_feature_channel_offset)
        return 0;
    if (d->flags & GATHERS)
        return gathered_channels(n, channels);
    if (descriptor_broadcasts(d) && !p->primary.stride_in_feature_channels)
        return p->secondary.stride_in_feature_channels
                   ? read_channels(&p->secondary, channels[n->sources[1]->index])
                   : 1;
    return read_channels(&p->primary, channels[n->sources[0]->index]);
}

glcnn_status network_channels(const struct glcnn_network *network, uint32_t **channels)
{
    *channels = calloc(network->image_count + 1, sizeof **channels);
    if (!*channels)
        return device_fail(network->device, GLCNN_OUT_OF_MEMORY,
                           "out of memory letting a network train");
    for (const struct glcnn_filter_node *n = network->filters; n; n = n->next)
        (*channels)[n->result->index] = result_channels(n, *channels);
    return GLCNN_SUCCESS;
}

glcnn_status filter_train(struct glcnn_filter_node *node,
                          const struct glcnn_training_descriptor *descriptor,
                          const uint32_t *channels)
{
    struct glcnn_training_descriptor own = *descriptor;
    if (!own.feature_channels)
        own.feature_channels = channels[node->sources[0]->index];
    return glcnn_kernel_set_training(node->kernel, &own);
}

glcnn_status glcnn_network_set_training(glcnn_network *network,
                                        const struct glcnn_training_descriptor *descriptor)
{
    uint32_t *channels = NULL;
    glcnn_status status = glcnn_network_status(network);
    if (status == GLCNN_SUCCESS && !descriptor)
        return device_fail(network->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_network_set_training: descriptor is NULL");
    if (status == GLCNN_SUCCESS)
        status = network_channels(network, &channels);
    for (struct glcnn_filter_node *n = status == GLCNN_SUCCESS ? network->filters : NULL;
         n && status == GLCNN_SUCCESS; n = n->next)
        if (filter_has_weights(n) && !glcnn_kernel_data_source(n->kernel) &&
            n->style != GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE)
            status = filter_train(n, descriptor, channels);
    free(channels);
    return status;
}

/* ---- Access ---- */

static struct trainer *trainer_of(const struct glcnn_kernel *kernel)
{
    const struct glcnn_data_source *source = kernel ? glcnn_kernel_data_source(kernel) : NULL;
    return source && source->update == update ? source->context : NULL;
}

glcnn_kernel *glcnn_kernel_optimizer(const glcnn_kernel *kernel)
{
    const struct trainer *t = trainer_of(kernel);
    return t ? t->optimizer : NULL;
}

unsigned glcnn_kernel_optimizer_vector_count(const glcnn_kernel *kernel, const char *vector)
{
    const struct trainer *t = trainer_of(kernel);
    bool is_stepped = t && vector && place_of(vector) >= 0 && trained_argument(kernel, vector) >= 0;
    return is_stepped ? vectors_kept(t->optimizer) : 0;
}

glcnn_buffer *glcnn_kernel_optimizer_vector(const glcnn_kernel *kernel, const char *vector,
                                            unsigned index)
{
    if (index >= glcnn_kernel_optimizer_vector_count(kernel, vector))
        return NULL;
    struct trainer *t = trainer_of(kernel);
    int place = place_of(vector), argument = trained_argument(kernel, vector);
    const struct glcnn_data_source *source = glcnn_kernel_data_source(kernel);
    const struct glcnn_buffer *own = kernel->vectors[argument];
    size_t length = own ? own->size / 4
                        : kernel_vector_length(kernel, (size_t)argument, source->feature_channels);
    length = trained_part(kernel, NULL, length).count;
    if (!length || need(t, place, length * 4) != GLCNN_SUCCESS)
        return NULL;
    return index ? t->second[place] : t->first[place];
}

bool training_averages(const struct glcnn_kernel *kernel)
{
    const struct trainer *t = trainer_of(kernel);
    return t && t->kernel->descriptor->averager;
}

glcnn_status training_average(const struct glcnn_kernel *kernel, struct glcnn_state *state,
                              struct average *average)
{
    return make_average(trainer_of(kernel), state, average);
}
