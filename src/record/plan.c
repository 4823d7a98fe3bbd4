/* Plans: gathering the passes of one encode. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/command_buffer.h"
#include "record/program.h"
#include "record/stores.h"

void plan_begin(struct plan *plan, struct glcnn_command_buffer *command_buffer)
{
    *plan = (struct plan){.command_buffer = command_buffer, .device = command_buffer->device};
}

void plan_fail(struct plan *plan, glcnn_status status, const char *format, ...)
{
    char text[900];
    if (plan->status != GLCNN_SUCCESS)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    plan->status = device_fail(plan->device, status, "%s", text);
}

/* Makes room for one more element; false latches out-of-memory. */
static bool grow(struct plan *plan, void **items, size_t count, size_t *capacity, size_t size)
{
    void *bigger = array_grow(*items, count, capacity, size);
    if (bigger)
        *items = bigger;
    else
        plan_fail(plan, GLCNN_OUT_OF_MEMORY, "out of memory recording passes");
    return bigger;
}

struct pass *plan_pass(struct plan *plan, const char *shader)
{
    static _Thread_local struct pass refused; /* takes the calls after a failure */
    void *items = plan->passes;
    if (plan->status != GLCNN_SUCCESS ||
        !grow(plan, &items, plan->pass_count, &plan->pass_capacity, sizeof *plan->passes)) {
        refused = (struct pass){0};
        return &refused;
    }
    plan->passes = items;
    struct pass *pass = &plan->passes[plan->pass_count++];
    *pass = (struct pass){.shader = shader, .registers = plan->device->info.traits.registers};
    if (plan->kernel) /* a label may follow the name */
        snprintf(pass->owner.name, sizeof pass->owner.name, "%.*s", (int)strcspn(plan->kernel, " "),
                 plan->kernel);
    return pass;
}

/* ---- Passes that take an epilogue ---- */

static bool is_same_view(const struct image_view *a, const struct image_view *b)
{
    return a->storage == b->storage && a->first_layer == b->first_layer &&
           a->layer_stride == b->layer_stride && a->width == b->width && a->height == b->height &&
           a->channels == b->channels && a->images == b->images;
}

static bool stores(const struct pass *pass, const struct storage *storage)
{
    for (uint32_t i = 0; i < pass->image_count; i++)
        if (pass->images[i].view.storage == storage)
            return true;
    return false;
}

static bool uses_vector(const struct pass *pass, const struct vector_view *const vectors[],
                        size_t count)
{
    for (uint32_t i = 0; i < pass->buffer_count; i++)
        for (size_t v = 0; v < count; v++)
            if (vectors[v]->buffer && pass->buffers[i].view.buffer == vectors[v]->buffer)
                return true;
    return false;
}

static bool takes_epilogue(const struct pass *pass, const struct image_view *view)
{
    return pass->epilogue.lanes && pass->image_count == 1 &&
           is_same_view(&pass->images[0].view, view);
}

/* A copy of a recorded pass that takes its place. */
static struct pass *amend(struct plan *plan, size_t number)
{
    const struct pass *recorded = &plan->command_buffer->passes[number];
    if (plan->amended || recorded->debug.observer)
        return NULL;
    plan->amended = malloc(sizeof *plan->amended);
    plan->amended_number = number;
    if (plan->amended)
        *plan->amended = *recorded;
    return plan->amended;
}

struct pass *plan_amend(struct plan *plan, const struct image_view *view,
                        const struct vector_view *const written[], size_t count)
{
    const struct glcnn_command_buffer *to = plan->command_buffer;
    size_t number = to->pass_count;
    if (!to->deferred || plan->pass_count || plan->status != GLCNN_SUCCESS)
        return NULL;
    while (number > 0 && !stores(&to->passes[number - 1], view->storage))
        if (uses_vector(&to->passes[--number], written, count))
            return NULL;
    if (number-- == 0 || !takes_epilogue(&to->passes[number], view))
        return NULL;
    return amend(plan, number);
}

static bool writes_texture_of(const struct pass *pass, const struct pass *amended)
{
    for (uint32_t t = 0; t < amended->texture_count; t++)
        if (stores(pass, amended->textures[t].view.storage))
            return true;
    return false;
}

static bool writes_vector_of(const struct pass *pass, const struct pass *amended)
{
    for (uint32_t i = 0; i < pass->buffer_count; i++)
        for (uint32_t b = 0; b < amended->buffer_count; b++)
            if (pass->buffers[i].access & VECTOR_WRITE && pass->buffers[i].view.buffer &&
                pass->buffers[i].view.buffer == amended->buffers[b].view.buffer)
                return true;
    return false;
}

bool plan_amended_can_read(const struct plan *plan)
{
    const struct glcnn_command_buffer *to = plan->command_buffer;
    for (size_t i = plan->amended_number + 1; i < to->pass_count; i++)
        if (writes_texture_of(&to->passes[i], plan->amended) ||
            writes_vector_of(&to->passes[i], plan->amended))
            return false;
    return true;
}

void plan_drop_amended(struct plan *plan)
{
    free(plan->amended);
    plan->amended = NULL;
}

/* ---- Looking back ---- */

static bool has_vector(const struct pass *pass, const struct pass_buffer *wanted)
{
    const struct vector_view *view = &wanted->view;
    for (uint32_t i = 0; i < pass->buffer_count; i++) {
        const struct vector_view *own = &pass->buffers[i].view;
        if (strcmp(pass->buffers[i].name, wanted->name) == 0)
            return own->buffer == view->buffer && own->offset == view->offset &&
                   own->count == view->count && own->is_part == view->is_part;
    }
    return false;
}

static bool has_texture(const struct pass *pass, const struct pass_texture *wanted)
{
    for (uint32_t i = 0; i < pass->texture_count; i++)
        if (strcmp(pass->textures[i].name, wanted->name) == 0)
            return is_same_view(&pass->textures[i].view, &wanted->view);
    return false;
}

static bool has_uniform(const struct pass *pass, const struct pass_uniform *wanted)
{
    for (uint32_t i = 0; i < pass->uniform_count; i++)
        if (strcmp(pass->uniforms[i].name, wanted->name) == 0)
            return pass->uniforms[i].value.i == wanted->value.i;
    return false;
}

static bool has_vectors(const struct pass *pass, const struct pass *like, enum vector_access access)
{
    for (uint32_t i = 0; i < like->buffer_count; i++)
        if (like->buffers[i].access & access && !has_vector(pass, &like->buffers[i]))
            return false;
    return true;
}

static bool has_all(const struct pass *pass, const struct pass *like)
{
    for (uint32_t i = 0; i < like->texture_count; i++)
        if (!has_texture(pass, &like->textures[i]))
            return false;
    for (uint32_t i = 0; i < like->uniform_count; i++)
        if (!has_uniform(pass, &like->uniforms[i]))
            return false;
    return has_vectors(pass, like, VECTOR_READ_WRITE);
}

static bool writes_any_of(const struct pass *pass, const struct pass *like)
{
    return writes_texture_of(pass, like) || writes_vector_of(pass, like);
}

/* The one that so many are behind, NULL at the end. */
static const struct pass *pass_before(const struct plan *plan, size_t behind)
{
    const struct glcnn_command_buffer *to = plan->command_buffer;
    size_t own = plan->pass_count - plan->recycled;
    if (behind < own)
        return &plan->passes[plan->pass_count - 1 - behind];
    if (!to->deferred || behind - own >= to->pass_count)
        return NULL;
    size_t number = to->pass_count - 1 - (behind - own);
    bool amended = plan->amended && plan->amended_number == number;
    const struct pass *pass = amended ? plan->amended : &to->passes[number];
    return pass->issue.callback ? NULL : pass;
}

static const struct image_view *image_of(const struct pass *pass, const char *name)
{
    for (uint32_t i = 0; i < pass->image_count; i++)
        if (strcmp(pass->images[i].name, name) == 0)
            return &pass->images[i].view;
    return NULL;
}

struct image_view plan_find_made(const struct plan *plan, const char *name, const struct pass *like)
{
    const struct pass *pass;
    for (size_t behind = 0; (pass = pass_before(plan, behind)); behind++) {
        const struct image_view *made = image_of(pass, name);
        if (made && has_all(pass, like))
            return *made;
        if (writes_any_of(pass, like))
            break;
    }
    return (struct image_view){0};
}

struct pass *plan_amend_writer(struct plan *plan, const char *shader, const struct pass *like)
{
    const struct pass *pass;
    size_t behind = 0, own = plan->pass_count - plan->recycled;
    while ((pass = pass_before(plan, behind)) && !writes_any_of(pass, like))
        behind++;
    if (!pass || plan->status != GLCNN_SUCCESS || pass->image_count ||
        strcmp(pass->shader, shader) != 0 || !has_vectors(pass, like, VECTOR_WRITE))
        return NULL;
    if (behind < own)
        return &plan->passes[plan->pass_count - 1 - behind];
    return amend(plan, plan->command_buffer->pass_count - 1 - (behind - own));
}

/* ---- Retained objects ---- */

void plan_retain(struct plan *plan, void *object, release_function release)
{
    void *items = plan->retained;
    bool kept =
        plan->status == GLCNN_SUCCESS &&
        grow(plan, &items, plan->retained_count, &plan->retained_capacity, sizeof *plan->retained);
    if (!kept) {
        release(object);
        return;
    }
    plan->retained = items;
    plan->retained[plan->retained_count++] = (struct retained){object, release};
}

static void release_storage(void *object)
{
    storage_recycle(object);
}

static void release_buffer(void *object)
{
    glcnn_buffer *buffer = object;
    glcnn_buffer_destroy(&buffer);
}

void plan_retain_storage(struct plan *plan, struct storage *storage)
{
    plan_retain(plan, storage_retain(storage), release_storage);
}

void plan_retain_buffer(struct plan *plan, struct glcnn_buffer *buffer)
{
    plan_retain(plan, buffer_retain(buffer), release_buffer);
}

/* ---- Scratch ---- */

struct image_view plan_scratch_image(struct plan *plan, struct extent extent)
{
    /* Takes the calls after a failure. */
    static _Thread_local struct storage refused = {.format = GLCNN_CHANNEL_FORMAT_FLOAT32};
    struct image_view view = {.storage = &refused,
                              .layer_stride = slice_count(extent.channels),
                              .width = extent.width,
                              .height = extent.height,
                              .channels = extent.channels,
                              .images = extent.images};
    if (plan->status != GLCNN_SUCCESS)
        return view;
    if (plan->scratch_count == sizeof plan->scratch / sizeof *plan->scratch) {
        plan_fail(plan, GLCNN_SHADER_ERROR, "a kernel asks for more than %zu scratch images",
                  plan->scratch_count);
        return view;
    }
    struct storage *storage;
    plan->status = command_buffer_acquire_storage(plan->command_buffer, view.width, view.height,
                                                  view.images * view.layer_stride,
                                                  GLCNN_CHANNEL_FORMAT_FLOAT32, &storage);
    if (plan->status != GLCNN_SUCCESS)
        return view;
    plan->scratch[plan->scratch_count++] = storage;
    view.storage = storage;
    return view;
}

struct vector_view plan_scratch_vector(struct plan *plan, size_t count)
{
    struct vector_view view = {.count = count};
    if (plan->status != GLCNN_SUCCESS)
        return view;
    glcnn_buffer *buffer;
    plan->status = glcnn_buffer_create(plan->device, count * 4, &buffer);
    if (plan->status != GLCNN_SUCCESS)
        return view;
    view.buffer = buffer;
    plan->command_buffer->held_size += buffer->size;
    plan_retain(plan, buffer, release_buffer);
    return view;
}

struct vector_view plan_table(struct plan *plan, const void *elements, size_t count)
{
    struct vector_view view = plan_scratch_vector(plan, count);
    if (plan->status == GLCNN_SUCCESS)
        plan->status = glcnn_buffer_write(view.buffer, 0, count * 4, elements);
    return view;
}

struct vector_view plan_workspace_vector(struct plan *plan, size_t count)
{
    struct vector_view view = {.count = count};
    if (plan->status != GLCNN_SUCCESS)
        return view;
    plan->status = command_buffer_acquire_buffer(plan->command_buffer, count * 4, &view.buffer);
    if (plan->status != GLCNN_SUCCESS)
        return view;
    view.buffer->next = plan->workspace;
    plan->workspace = view.buffer;
    return view;
}

uint32_t plan_workspace_vec4s(const struct plan *plan, size_t most)
{
    size_t limit = plan->command_buffer->workspace_limit;
    size_t block = plan->device->info.limits.storage_block_size;
    if (limit && limit < most)
        most = limit;
    return (uint32_t)((block < most ? block : most) / (4 * sizeof(float)));
}

static void return_buffers(struct plan *plan)
{
    struct glcnn_command_buffer *to = plan->command_buffer;
    uint64_t size = 0;
    while (plan->workspace) {
        struct glcnn_buffer *buffer = plan->workspace;
        plan->workspace = buffer->next;
        size += buffer->size;
        if (to->deferred)
            plan_retain(plan, buffer, release_buffer); /* each has a place of its own */
        else
            command_buffer_return_buffer(to, buffer);
    }
    to->workspace_size = size > to->workspace_size ? size : to->workspace_size;
}

void plan_release_scratch(struct plan *plan)
{
    for (size_t i = 0; i < plan->scratch_count; i++)
        if (plan->command_buffer->deferred)
            plan_retain(plan, plan->scratch[i], release_storage); /* each has one of its own */
        else
            command_buffer_return_storage(plan->command_buffer, plan->scratch[i]);
    plan->scratch_count = 0;
    plan->recycled = plan->command_buffer->deferred ? 0 : plan->pass_count;
    return_buffers(plan);
}

/* ---- Parts of vectors ---- */

bool plan_fits_block(const struct plan *plan, size_t elements)
{
    return elements <= plan->device->info.limits.storage_block_size / 4;
}

size_t plan_part_step(const struct plan *plan)
{
    size_t step = plan->device->info.limits.buffer_offset_alignment / 4;
    return step < 4 ? 4 : step;
}

/* One step less than a block holds: a copy may begin before its first element. */
size_t plan_part_elements(const struct plan *plan)
{
    size_t step = plan_part_step(plan);
    size_t steps = plan->device->info.limits.storage_block_size / 4 / step;
    return (steps > 2 ? steps - 1 : 1) * step;
}

/* ---- Common passes ---- */

void plan_fill_image(struct plan *plan, const struct image_view *destination)
{
    struct pass *pass = plan_pass(plan, "record/fill.comp");
    pass_image(pass, "destination", destination);
    pass_grid_over(pass, destination->width, destination->height, "destination", destination);
}

/* What is bound so that a pass finds `count` elements from `first` on of a view: all of its buffer, or
 * where that is longer than a block those, from the last place before them that can be bound on. The
 * first of them lies at *from. */
static struct vector_view reachable(const struct plan *plan, const struct vector_view *view,
                                    size_t first, size_t count, int32_t *from)
{
    size_t begin = view->offset + first, rest = begin % plan_part_step(plan);
    bool fits = !view->is_part && view->buffer && plan_fits_block(plan, view->buffer->size / 4);
    *from = (int32_t)(fits ? begin : rest);
    return fits ? *view : (struct vector_view){view->buffer, begin - rest, count + rest, true};
}

static void plan_vector_part(struct plan *plan, const struct vector_view *source,
                             const struct vector_view *destination, enum vector_access access,
                             size_t first, size_t count)
{
    int32_t source_offset, destination_offset;
    struct vector_view from = reachable(plan, source, first, count, &source_offset);
    struct vector_view to = reachable(plan, destination, first, count, &destination_offset);
    struct pass *pass = plan_pass(plan, "record/copy_vector.comp");
    pass_vector(pass, "source", &from, VECTOR_READ);
    pass_vector(pass, "destination", &to, access);
    pass_int(pass, "source_offset", source_offset);
    pass_int(pass, "destination_offset", destination_offset);
    if (access & VECTOR_READ)
        pass_define(pass, "ACCUMULATE", 1);
    pass_grid(pass, (uint32_t)count, 1, 1);
    pass_local(pass, 64, 1, 1);
}

static void plan_vectors(struct plan *plan, const struct vector_view *source,
                         const struct vector_view *destination, enum vector_access access)
{
    size_t count = destination->count;
    bool fits = plan_fits_block(plan, count + plan_part_step(plan));
    size_t most = fits ? count : plan_part_elements(plan);
    for (size_t first = 0; first < count; first += most)
        plan_vector_part(plan, source, destination, access, first,
                         count - first < most ? count - first : most);
}

void plan_copy_vector(struct plan *plan, const struct vector_view *source,
                      const struct vector_view *destination)
{
    plan_vectors(plan, source, destination, VECTOR_WRITE);
}

void plan_add_vector(struct plan *plan, const struct vector_view *source,
                     const struct vector_view *destination)
{
    plan_vectors(plan, source, destination, VECTOR_READ_WRITE);
}

/* ---- The end ---- */

static void retain_resources(struct plan *plan, const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->texture_count; i++)
        plan_retain_storage(plan, pass->textures[i].view.storage);
    for (uint32_t i = 0; i < pass->image_count; i++)
        plan_retain_storage(plan, pass->images[i].view.storage);
    for (uint32_t i = 0; i < pass->buffer_count; i++)
        if (pass->buffers[i].view.buffer)
            plan_retain_buffer(plan, pass->buffers[i].view.buffer);
}

/* Room for `more` elements; grows by half, since a training step appends some hundred times. */
static bool reserve(struct plan *plan, void **items, size_t count, size_t more, size_t *capacity,
                    size_t size)
{
    if (count + more <= *capacity)
        return true;
    size_t wanted = count + more + *capacity / 2;
    void *bigger = realloc(*items, wanted * size);
    if (!bigger) {
        plan_fail(plan, GLCNN_OUT_OF_MEMORY, "out of memory recording passes");
        return false;
    }
    *items = bigger;
    *capacity = wanted;
    return true;
}

static void make_room(struct plan *plan)
{
    struct glcnn_command_buffer *to = plan->command_buffer;
    void *passes = to->passes, *retained = to->retained;
    if (reserve(plan, &passes, to->pass_count, plan->pass_count, &to->pass_capacity,
                sizeof *to->passes))
        reserve(plan, &retained, to->retained_count, plan->retained_count, &to->retained_capacity,
                sizeof *to->retained);
    to->passes = passes;
    to->retained = retained;
}

void plan_append(struct plan *plan)
{
    struct glcnn_command_buffer *to = plan->command_buffer;
    if (plan->pass_count)
        memcpy(to->passes + to->pass_count, plan->passes, plan->pass_count * sizeof *to->passes);
    to->pass_count += plan->pass_count;
    if (plan->amended)
        to->passes[plan->amended_number] = *plan->amended;
    if (plan->retained_count)
        memcpy(to->retained + to->retained_count, plan->retained,
               plan->retained_count * sizeof *to->retained);
    to->retained_count += plan->retained_count;
    plan->retained_count = 0;
}

glcnn_status plan_prepare(struct plan *plan)
{
    bool outside_graph = plan->kernel && !plan->command_buffer->deferred;
    for (size_t i = 0; i < plan->pass_count; i++)
        plan->passes[i].owner.outside_graph = outside_graph;
    if (!plan->command_buffer->deferred && plan->status == GLCNN_SUCCESS) {
        stores_plan(plan->device, plan->passes, plan->pass_count, UINT64_MAX);
        plan->status = programs_find(plan->device, plan->passes, plan->pass_count);
    }
    for (size_t i = 0; i < plan->pass_count && plan->status == GLCNN_SUCCESS; i++)
        retain_resources(plan, &plan->passes[i]);
    if (plan->amended && plan->status == GLCNN_SUCCESS)
        retain_resources(plan, plan->amended);
    if (plan->status == GLCNN_SUCCESS)
        make_room(plan);
    return plan->status;
}

void plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->retained_count; i++)
        plan->retained[i].release(plan->retained[i].object);
    plan_release_scratch(plan);
    plan_drop_amended(plan);
    free(plan->passes);
    free(plan->retained);
    plan->passes = NULL;
    plan->retained = NULL;
}

glcnn_status plan_end(struct plan *plan)
{
    if (plan_prepare(plan) == GLCNN_SUCCESS)
        plan_append(plan);
    plan_free(plan);
    return plan->status;
}
