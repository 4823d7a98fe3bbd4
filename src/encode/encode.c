/* Encoding: passes of one or more encodes, recorded in one transaction.
 *
 * Order: begin the calls (gather and check), then for each in turn resolve it, plan it and mark
 * what it writes, since a shared state moves with each. What can still fail follows: programs, room
 * in the command buffer, vectors that states borrow. Then the passes are appended, and nothing
 * fails after that. There is one way back, roll_back, from wherever a transaction fails. */
#include <stdlib.h>
#include <string.h>

#include "encode/encode.h"
#include "encode/observer.h"
#include "encode/rounded_weights.h"
#include "encode/tune.h"
#include "image/image.h"
#include "record/program.h"

/* ---- Planning ---- */

static bool covers(const struct operation *o, const struct image_view *view,
                   const struct glcnn_image *image)
{
    const struct glcnn_image_descriptor *d = &image->descriptor;
    return o->region_x == 0 && o->region_y == 0 && o->region_width == d->width &&
           o->region_height == d->height && view->images == d->number_of_images &&
           slice_count(view->channels) == slice_count(d->feature_channels);
}

/* Does the encode write all of it, and of what it is a view of where that holds nothing yet? */
static bool covers_destination(const struct call *call)
{
    const struct operation *o = &call->operation;
    int index = descriptor_place(o->descriptor, PLACE_DESTINATION);
    struct glcnn_image *image = call->arguments.destination;
    return index < 0 ||
           (covers(o, &o->images[index], image) && !(image_is_unset(image) && image->parent));
}

/* What an encode leaves out of a gradient image, or of a temporary image that holds nothing yet,
 * is 0. */
static void plan_fill(struct call *call, struct plan *plan)
{
    struct glcnn_image *image = call->arguments.destination;
    if (!image || covers_destination(call))
        return;
    bool unset = image_is_unset(image);
    if (!call->operation.state_driven && !unset)
        return;
    struct image_view whole = image_whole_view(unset ? image_root(image) : image);
    plan_fill_image(plan, &whole);
}

static void release_kernel(void *object)
{
    glcnn_kernel *kernel = object;
    glcnn_kernel_destroy(&kernel);
}

/* Passes that store the result, unless those that read it are to make it themselves. */
static void plan_result(struct call *call, struct plan *plan)
{
    if (call->arguments.destination && covers_destination(call) && fuse_result(call, plan))
        return;
    struct tuned tuned;
    struct operation operation = call->operation;
    const struct glcnn_kernel *lender = call->settings->vectors_of;
    plan_fill(call, plan);
    tune(&call->operation, plan, &tuned);
    plan_rounded_weights(plan, lender ? lender : call->kernel, &operation);
    if (plan->status == GLCNN_SUCCESS)
        call->kernel->descriptor->plan(&operation, plan);
    plan->tuned = NULL;
}

static void plan_call(struct call *call, struct plan *plan)
{
    size_t first = plan->pass_count;
    plan->kernel = kernel_display_name(call->kernel);
    plan_result(call, plan);
    for (size_t i = first; i < plan->pass_count; i++) {
        plan->passes[i].owner.kernel = call->kernel;
        if (plan->passes[i].lacks_names)
            plan_fail(plan, GLCNN_OUT_OF_MEMORY, "%s: out of memory encoding", plan->kernel);
    }
    observe(&call->operation, plan, first);
    plan_retain(plan, kernel_retain(call->kernel), release_kernel);
    plan_release_scratch(plan);
}

static void plan_one(struct call *call, struct plan *plan)
{
    plan->status = call_resolve(call);
    if (plan->status == GLCNN_SUCCESS)
        plan_call(call, plan);
    if (plan->status != GLCNN_SUCCESS)
        return;
    effects_mark(call);
    call->kernel->encode_count++;
}

/* ---- Transactions ---- */

static glcnn_status allocate(struct transaction *t)
{
    bool fits = t->count < SIZE_MAX / sizeof *t->calls;
    t->calls = fits ? calloc(t->count, sizeof *t->calls) : NULL;
    t->saved = t->calls ? calloc(t->count, sizeof *t->saved) : NULL;
    if (t->saved)
        return GLCNN_SUCCESS;
    return device_fail(t->kernel->device, GLCNN_OUT_OF_MEMORY, "%s: out of memory encoding",
                       kernel_display_name(t->kernel));
}

glcnn_status transaction_begin(struct transaction *t, struct glcnn_command_buffer *command_buffer,
                               struct glcnn_kernel *kernel, const struct encode_settings *settings,
                               const struct glcnn_encode *arguments, size_t count)
{
    *t = (struct transaction){.command_buffer = command_buffer, .kernel = kernel, .count = count};
    glcnn_status status = call_check_handles(command_buffer, kernel, arguments);
    if (status != GLCNN_SUCCESS)
        return status;
    if (count == 0)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: the batch is empty",
                           kernel_display_name(kernel));
    status = allocate(t);
    if (status != GLCNN_SUCCESS)
        return status;
    t->settings = settings ? *settings : encode_settings_of(kernel);
    t->encode_count = kernel->encode_count;
    memcpy(t->parameters, kernel->parameters, kernel->descriptor->parameters_size);
    memcpy(t->vectors, kernel->vectors, sizeof t->vectors);
    for (size_t i = 0; i < count; i++)
        t->calls[i] = (struct call){.command_buffer = command_buffer,
                                    .kernel = kernel,
                                    .settings = &t->settings,
                                    .arguments = arguments[i]};
    return GLCNN_SUCCESS;
}

static void plan_all(struct transaction *t, struct plan *plan)
{
    for (t->planned = 0; t->planned < t->count && plan->status == GLCNN_SUCCESS; t->planned++) {
        effects_save(&t->calls[t->planned], &t->saved[t->planned]);
        plan_one(&t->calls[t->planned], plan);
    }
    if (t->copy.from && t->copy.from->buffer)
        plan_copy_vector(plan, t->copy.from, t->copy.to);
}

static void move_kernel_back(const struct transaction *t)
{
    memcpy(t->kernel->parameters, t->parameters, t->kernel->descriptor->parameters_size);
    t->kernel->encode_count = t->encode_count;
}

static void roll_back(struct transaction *t)
{
    while (t->planned-- > 0)
        effects_roll_back(&t->calls[t->planned], &t->saved[t->planned]);
    t->planned = 0;
    move_kernel_back(t);
    for (int i = 0; i < MAX_ARGUMENTS; i++)
        if (!t->vectors[i])
            glcnn_buffer_destroy(&t->kernel->vectors[i]);
}

/* Each commit of a deferred command buffer, the first too, advances what the kernel counts. */
static void complete(struct transaction *t)
{
    for (size_t i = 0; i < t->count; i++) {
        effects_commit(&t->calls[i]);
        effects_release(&t->saved[i]);
    }
    effects_count_reads(t->calls, t->count);
    if (t->command_buffer->deferred)
        move_kernel_back(t);
}

static glcnn_status attempt(struct transaction *t)
{
    struct plan plan;
    plan_begin(&plan, t->command_buffer);
    plan_all(t, &plan);
    glcnn_status status = plan_prepare(&plan);
    for (size_t i = 0; i < t->count && status == GLCNN_SUCCESS; i++)
        status = effects_share_vectors(&t->calls[i]);
    if (status == GLCNN_SUCCESS)
        plan_append(&plan);
    plan_free(&plan);
    if (status == GLCNN_SUCCESS)
        complete(t);
    else
        roll_back(t);
    return status;
}

/* Again with the next rows of lists where the driver does not run one. */
glcnn_status transaction_record(struct transaction *t)
{
    glcnn_status status;
    size_t refusals;
    do {
        refusals = program_refusals(t->kernel->device);
        status = attempt(t);
    } while (status == GLCNN_SHADER_ERROR && program_refusals(t->kernel->device) > refusals);
    return status;
}

void transaction_free(struct transaction *t)
{
    free(t->calls);
    free(t->saved);
}

/* ---- Encodes ---- */

/* What distinguishes the encodes of the library from each other. */
struct encode_options {
    const struct encode_settings *settings; /* NULL: the kernel's */
    struct copy copy;
    const size_t *decayed; /* an optimizer's encodes, parts of one step: values that decay */
};

static void continue_step(struct operation *o, size_t encode, size_t decayed)
{
    o->continues_step = encode > 0;
    o->decays_in_part = true;
    o->decayed = decayed;
}

static glcnn_status encode_each(struct glcnn_command_buffer *command_buffer,
                                struct glcnn_kernel *kernel, const struct glcnn_encode *arguments,
                                size_t count, const struct encode_options *options)
{
    struct transaction t;
    glcnn_status status =
        transaction_begin(&t, command_buffer, kernel, options->settings, arguments, count);
    t.copy = options->copy;
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        status = call_begin(&t.calls[i], true);
        t.calls[i].operation.encode_number += (uint32_t)i;
        if (options->decayed)
            continue_step(&t.calls[i].operation, i, options->decayed[i]);
    }
    if (status == GLCNN_SUCCESS)
        status = transaction_record(&t);
    transaction_free(&t);
    return status;
}

glcnn_status glcnn_kernel_encode_batch(glcnn_command_buffer *command_buffer, glcnn_kernel *kernel,
                                       const struct glcnn_encode *arguments, size_t count)
{
    return encode_each(command_buffer, kernel, arguments, count,
                       &(struct encode_options){.settings = NULL});
}

glcnn_status encode_with(struct glcnn_command_buffer *command_buffer, struct glcnn_kernel *kernel,
                         const struct encode_settings *settings,
                         const struct glcnn_encode *arguments)
{
    return encode_each(command_buffer, kernel, arguments, 1,
                       &(struct encode_options){.settings = settings});
}

glcnn_status kernel_encode_step(struct glcnn_command_buffer *command_buffer,
                                struct glcnn_kernel *kernel, const struct step_encodes *step)
{
    return encode_each(
        command_buffer, kernel, step->arguments, step->count,
        &(struct encode_options){.copy = {step->from, step->to}, .decayed = step->decayed});
}

glcnn_status glcnn_kernel_encode(glcnn_command_buffer *command_buffer, glcnn_kernel *kernel,
                                 const struct glcnn_encode *arguments)
{
    return glcnn_kernel_encode_batch(command_buffer, kernel, arguments, 1);
}

static glcnn_status plan_dry(struct transaction *t,
                             void (*visit)(void *user, const struct pass *pass), void *user)
{
    struct plan plan;
    plan_begin(&plan, t->command_buffer);
    plan_all(t, &plan);
    for (size_t i = 0; i < plan.pass_count && plan.status == GLCNN_SUCCESS; i++)
        visit(user, &plan.passes[i]);
    glcnn_status status = plan.status;
    plan_free(&plan);
    roll_back(t);
    return status;
}

glcnn_status encode_dry(struct glcnn_command_buffer *command_buffer, struct glcnn_kernel *kernel,
                        const struct glcnn_encode *arguments,
                        void (*visit)(void *user, const struct pass *pass), void *user)
{
    struct transaction t;
    glcnn_status status = transaction_begin(&t, command_buffer, kernel, NULL, arguments, 1);
    if (status == GLCNN_SUCCESS)
        status = call_begin(&t.calls[0], true);
    if (status == GLCNN_SUCCESS)
        status = plan_dry(&t, visit, user);
    transaction_free(&t);
    return status;
}
