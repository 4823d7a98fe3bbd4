/* Executing what was compiled, and encoding for the user. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "glcnn/training.h"
#include "graph/compile.h"
#include "graph/loss_scale.h"
#include "graph/update.h"
#include "platform/platform.h"
#include "record/program.h"

/* ---- Encoding for the user ---- */

static bool is_repeated(glcnn_image *const *sources, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (sources[i] == sources[index])
            return true;
    return false;
}

/* A temporary source loses one read, however many filters read it and places it has. */
static void hold_sources(const struct glcnn_graph *graph, glcnn_image *const *sources,
                         uint32_t *reads)
{
    for (size_t i = 0; i < graph->source_count; i++) {
        reads[i] = is_repeated(sources, i) ? 0 : glcnn_image_read_count(sources[i]);
        if (reads[i])
            glcnn_image_set_read_count(sources[i], INT32_MAX);
    }
}

static void release_sources(const struct glcnn_graph *graph, glcnn_image *const *sources,
                            const uint32_t *reads, uint32_t taken)
{
    for (size_t i = 0; i < graph->source_count; i++)
        if (reads[i])
            glcnn_image_set_read_count(sources[i], reads[i] - taken);
}

/* What encodes advance, to be restored after one that failed: the number of a kernel's encodes,
 * parameters of its optimizer. */
struct counts {
    uint32_t encode_count;
    char optimizer[MAX_PARAMETER_BYTES];
};

static void save_counts(const struct glcnn_graph *graph, struct counts *counts)
{
    for (size_t i = 0; i < graph->filter_count; i++) {
        const glcnn_kernel *kernel = graph->filters[i].node->kernel;
        const glcnn_kernel *optimizer = glcnn_kernel_optimizer(kernel);
        counts[i].encode_count = kernel->encode_count;
        if (optimizer)
            memcpy(counts[i].optimizer, optimizer->parameters,
                   optimizer->descriptor->parameters_size);
    }
}

static void restore_counts(const struct glcnn_graph *graph, const struct counts *counts)
{
    for (size_t i = 0; i < graph->filter_count; i++) {
        glcnn_kernel *kernel = graph->filters[i].node->kernel;
        glcnn_kernel *optimizer = glcnn_kernel_optimizer(kernel);
        kernel->encode_count = counts[i].encode_count;
        if (optimizer)
            memcpy(optimizer->parameters, counts[i].optimizer,
                   optimizer->descriptor->parameters_size);
    }
}

glcnn_status glcnn_graph_encode(glcnn_command_buffer *command_buffer, glcnn_graph *graph,
                                glcnn_image *const *sources, glcnn_image **results)
{
    struct recording recording = {0};
    if (!graph || !command_buffer)
        return GLCNN_INVALID_ARGUMENT;
    for (size_t i = 0; results && i < graph->result_count; i++)
        results[i] = NULL;
    if (!results || (!sources && graph->source_count))
        return device_fail(graph->device, GLCNN_INVALID_ARGUMENT, "glcnn_graph_encode: %s is NULL",
                           results ? "sources" : "results");
    if (loss_scale_is_used(graph) || graph->group > 1)
        return device_fail(graph->device, GLCNN_INVALID_STATE,
                           "glcnn_graph_encode: the graph %s; execute it, or make one without",
                           graph->group > 1 ? "accumulates gradients over executions"
                                            : "has a loss scale, which follows what each step "
                                              "makes");
    for (size_t i = 0; i < graph->source_count; i++)
        if (!sources[i])
            return device_fail(graph->device, GLCNN_INVALID_ARGUMENT,
                               "glcnn_graph_encode: source %zu is NULL", i);
    uint32_t *reads = calloc(graph->source_count + 1, sizeof *reads);
    struct counts *counts = calloc(graph->filter_count + 1, sizeof *counts);
    if (!reads || !counts) {
        free(reads);
        free(counts);
        return device_fail(graph->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a graph");
    }
    save_counts(graph, counts);
    size_t passes = command_buffer->pass_count, retained = command_buffer->retained_count;
    hold_sources(graph, sources, reads);
    glcnn_status status = recording_make(&recording, graph, command_buffer, sources,
                                         &(struct memory_choice){.sub_batches = 1});
    for (size_t i = 0; i < graph->result_count && status == GLCNN_SUCCESS; i++)
        if (graph->result_is_needed[i])
            results[i] = image_retain(recording.images[graph->results[i]->index]);
    recording_free(&recording);
    if (status != GLCNN_SUCCESS) {
        command_buffer_cut(command_buffer, passes, retained);
        restore_counts(graph, counts);
    }
    release_sources(graph, sources, reads, status == GLCNN_SUCCESS);
    free(reads);
    free(counts);
    return status;
}

/* ---- Completion ---- */

static bool updates_on_cpu(const struct glcnn_graph *graph)
{
    for (size_t i = 0; i < graph->filter_count; i++)
        if (graph->filters[i].updates &&
            graph->filters[i].node->forward->style == GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU)
            return true;
    return false;
}

/* By what the step left of its gradients: with a loss scale this grows or falls, and a skipped step
 * takes back what was counted of it. */
static glcnn_status follow_loss_scale(struct glcnn_graph *graph, struct recording *r)
{
    float sum = 0;
    if (!r->gradient_sum || !graph->has_updated)
        return GLCNN_SUCCESS;
    glcnn_status status = glcnn_buffer_read(r->gradient_sum, 0, sizeof sum, &sum);
    if (status != GLCNN_SUCCESS)
        return status;
    r->skipped = !isfinite(sum);
    if (!r->skipped) {
        loss_scale_count_good(graph);
        return GLCNN_SUCCESS;
    }
    update_step_back(graph);
    return loss_scale_count_skipped(graph);
}

glcnn_status glcnn_graph_wait(glcnn_graph *graph)
{
    if (!graph)
        return GLCNN_INVALID_ARGUMENT;
    if (!graph->pending)
        return GLCNN_SUCCESS;
    graph->pending = false;
    glcnn_graph_handler handler = graph->handler;
    glcnn_status status =
        command_buffer_wait(graph->executing->command_buffer, "waiting for a graph");
    struct recording *recording = &graph->executing->recording;
    if (status == GLCNN_SUCCESS)
        status = follow_loss_scale(graph, recording);
    if (status == GLCNN_SUCCESS && graph->has_updated && !recording->skipped)
        status = update_on_cpu(recording);
    graph->handler = NULL;
    if (handler)
        handler(graph->user, graph, status);
    return status;
}

/* Somebody must see that an execution is complete before the next begins. */
static glcnn_status wait_if_watched(glcnn_graph *graph)
{
    if (!graph->pending ||
        (!graph->handler && !updates_on_cpu(graph) && !loss_scale_is_used(graph)))
        return GLCNN_SUCCESS;
    graph->waiting = true;
    glcnn_status status = glcnn_graph_wait(graph);
    graph->waiting = false;
    return status;
}

/* ---- Executing ---- */

static glcnn_status check_source(const struct glcnn_graph *graph, glcnn_image *const *sources,
                                 size_t index)
{
    const struct glcnn_image *image = sources[index];
    const char *wrong = !image                           ? "NULL"
                        : image->device != graph->device ? "an image of another device"
                        : image->command_buffer          ? "a temporary image"
                        : image->parent                  ? "a view"
                        : image_is_foreign(image)        ? "an imported or wrapped texture: encode "
                                                           "a kernel that reads it into an image "
                                                           "of the library first"
                                                         : NULL;
    if (!wrong && is_repeated(sources, index))
        wrong = "given twice";
    if (wrong)
        return device_fail(graph->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_graph_execute: source %zu is %s", index, wrong);
    return GLCNN_SUCCESS;
}

/* Passes cannot read an image that they write: what was compiled has its own results. */
static glcnn_status check_not_own(const struct glcnn_graph *graph, const struct compiled *c,
                                  glcnn_image *const *sources)
{
    for (size_t i = 0; i < graph->source_count; i++)
        for (size_t k = 0; k < graph->image_count; k++)
            if (sources[i] == c->recording.images[k])
                return device_fail(graph->device, GLCNN_INVALID_ARGUMENT,
                                   "glcnn_graph_execute: source %zu is the graph's own result, "
                                   "which this execution writes; give it a copy",
                                   i);
    return GLCNN_SUCCESS;
}

static glcnn_status find_for_images(struct glcnn_graph *graph, glcnn_image *const *sources,
                                    struct compiled **compiled)
{
    struct glcnn_image_descriptor *descriptors = graph->source_descriptors;
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < graph->source_count && status == GLCNN_SUCCESS; i++) {
        status = check_source(graph, sources, i);
        if (status == GLCNN_SUCCESS)
            descriptors[i] = sources[i]->descriptor;
    }
    if (status == GLCNN_SUCCESS)
        status = compiled_find(graph, descriptors, compiled);
    return status == GLCNN_SUCCESS ? check_not_own(graph, *compiled, sources) : status;
}

/* Lets the passes read the user's images. Every source has a storage of its own, before and after:
 * all old ones are parted with before a new one comes in. */
static void bind_sources(struct glcnn_graph *graph, struct compiled *c, glcnn_image *const *sources)
{
    for (size_t i = 0; i < graph->source_count; i++) {
        if (c->sources[i] == sources[i])
            continue;
        for (size_t j = i + 1; j < graph->source_count; j++)
            if (c->sources[j] == sources[i]) { /* two sources change places */
                struct glcnn_image *other = c->sources[i];
                command_buffer_exchange(c->command_buffer, other->storage, sources[i]->storage);
                c->sources[i] = c->sources[j];
                c->sources[j] = other;
            }
        if (c->sources[i] == sources[i])
            continue;
        command_buffer_exchange(c->command_buffer, c->sources[i]->storage, sources[i]->storage);
        glcnn_image_destroy(&c->sources[i]);
        c->sources[i] = image_retain(sources[i]);
    }
}

/* By the same choice, with images in place of the user's, which are bound again. */
static glcnn_status record_again(struct glcnn_graph *graph, struct compiled *c,
                                 glcnn_image *const *sources)
{
    glcnn_status status = compiled_renew(graph, c);
    if (status == GLCNN_SUCCESS)
        bind_sources(graph, c, sources);
    return status;
}

/* The driver may turn out not to run an implementation: what was recorded with it is recorded again with
 * the next row of the list. */
static glcnn_status make_programs(struct glcnn_graph *graph, struct compiled *c,
                                  glcnn_image *const *sources)
{
    size_t refusals;
    glcnn_status status;
    do {
        refusals = program_refusals(graph->device);
        status = command_buffer_compile(c->command_buffer);
        if (status != GLCNN_SHADER_ERROR || program_refusals(graph->device) == refusals)
            return status;
        status = record_again(graph, c, sources);
    } while (status == GLCNN_SUCCESS);
    return status;
}

/* What has no programs is recorded again when it is asked for again. */
static void forget(struct glcnn_graph *graph, struct compiled *c)
{
    struct compiled **at = &graph->compiled;
    if (graph->executing == c) {
        graph->executing = NULL;
        graph->pending = false;
    }
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    compiled_free(c, graph->source_count);
}

/* Optimizers that were set otherwise since they were recorded as one step: a step for each from now
 * on. */
static glcnn_status separate_steps(struct glcnn_graph *graph, struct compiled *c,
                                   glcnn_image *const *sources)
{
    if (multi_tensor_steps_are_alike(&c->recording.multi_tensor_steps))
        return GLCNN_SUCCESS;
    graph->steps_differ = true;
    c->has_programs = false;
    return record_again(graph, c, sources);
}

static glcnn_status clear_skipped(struct recording *r)
{
    glcnn_status status =
        r->skipped ? multi_tensor_steps_clear(&r->multi_tensor_steps) : GLCNN_SUCCESS;
    r->skipped = r->skipped && status != GLCNN_SUCCESS;
    return status;
}

/* Sums of gradients belong to what was compiled, with its steps of optimizers. */
static glcnn_status check_group(const struct glcnn_graph *graph, const struct compiled *c)
{
    if (graph->in_group == 0 || c->recording.accumulated_count == 0)
        return GLCNN_SUCCESS;
    if (graph->executing != c)
        return graph_fail_in_group(graph, "glcnn_graph_execute", "have sources of the same sizes");
    return multi_tensor_steps_are_alike(&c->recording.multi_tensor_steps)
               ? GLCNN_SUCCESS
               : graph_fail_in_group(graph, "glcnn_graph_execute",
                                     "have optimizers that are set as they were");
}

static glcnn_status commit(struct glcnn_graph *graph, struct compiled *c,
                           glcnn_image *const *sources)
{
    glcnn_status status = check_group(graph, c);
    if (status != GLCNN_SUCCESS)
        return status;
    status = separate_steps(graph, c, sources);
    if (status == GLCNN_SUCCESS && !c->has_programs)
        status = make_programs(graph, c, sources);
    if (status != GLCNN_SUCCESS) {
        forget(graph, c);
        return status;
    }
    c->has_programs = true;
    status = clear_skipped(&c->recording);
    if (status != GLCNN_SUCCESS)
        return status;
    c->command_buffer->ends_short = graph->in_group + 1 < graph->group;
    status = command_buffer_commit(c->command_buffer, "glcnn_graph_execute");
    multi_tensor_steps_advance(&c->recording.multi_tensor_steps);
    if (status != GLCNN_SUCCESS)
        return status;
    graph->executing = c;
    graph->has_updated = !c->command_buffer->ends_short;
    graph->in_group = (graph->in_group + 1) % graph->group;
    return status;
}

glcnn_status glcnn_graph_execute(glcnn_graph *graph, glcnn_image *const *sources,
                                 glcnn_graph_handler handler, void *user)
{
    struct compiled *c;
    if (!graph)
        return GLCNN_INVALID_ARGUMENT;
    if (!sources && graph->source_count)
        return device_fail(graph->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_graph_execute: sources is NULL");
    if (graph->waiting)
        return device_fail(
            graph->device, GLCNN_INVALID_STATE,
            "glcnn_graph_execute: the handler that an execution calls must not begin "
            "another");
    glcnn_status status = device_enter(graph->device);
    if (status == GLCNN_SUCCESS)
        status = wait_if_watched(graph);
    if (status == GLCNN_SUCCESS && !graph->may_train) {
        status = graph_check_zero_weights(graph);
        graph->may_train = status == GLCNN_SUCCESS;
    }
    if (status == GLCNN_SUCCESS)
        status = find_for_images(graph, sources, &c);
    if (status != GLCNN_SUCCESS)
        return status;
    bind_sources(graph, c, sources);
    status = commit(graph, c, sources);
    if (status != GLCNN_SUCCESS)
        return status;
    graph->pending = true;
    graph->handler = handler;
    graph->user = user;
    return GLCNN_SUCCESS;
}

/* ---- What became of it ---- */

bool glcnn_graph_poll(glcnn_graph *graph)
{
    if (!graph || !graph->pending)
        return true;
    if (!command_buffer_is_complete(graph->executing->command_buffer, "glcnn_graph_poll"))
        return false;
    glcnn_graph_wait(graph);
    return true;
}

glcnn_status glcnn_graph_get_loss_scale(glcnn_graph *graph,
                                        struct glcnn_dynamic_loss_scale *loss_scale)
{
    if (!graph)
        return GLCNN_INVALID_ARGUMENT;
    if (!loss_scale)
        return device_fail(graph->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_graph_get_loss_scale: loss_scale is NULL");
    glcnn_status status = glcnn_graph_wait(graph);
    *loss_scale = graph->loss_scale;
    return status;
}

int glcnn_graph_fence_descriptor(glcnn_graph *graph)
{
    if (!graph || !graph->executing || device_enter(graph->device) != GLCNN_SUCCESS)
        return -1;
    return fence_descriptor(graph->device, "glcnn_graph_fence_descriptor");
}

glcnn_image *glcnn_graph_image(const glcnn_graph *graph, const glcnn_image_node *node)
{
    if (!graph || !node || !graph->executing || node->network != graph->network ||
        node->index >= graph->image_count || !graph->wanted[node->index])
        return NULL;
    return graph->executing->recording.images[node->index];
}

glcnn_state *glcnn_graph_state(const glcnn_graph *graph, const glcnn_state_node *node)
{
    if (!graph || !node || !graph->executing || !node->export_from_graph)
        return NULL;
    size_t filter = graph_find_filter(graph, node->filter);
    return filter == SIZE_MAX ? NULL : recording_state(&graph->executing->recording, filter, 0, 0);
}
