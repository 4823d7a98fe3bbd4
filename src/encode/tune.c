/* Trials of implementations. Lists are decided in the order in which the plan asks for them, each with
 * what was decided before, since what a row plans asks for lists of its own. */
#include "encode/tune.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device/buffer.h"
#include "encode/kernel.h"
#include "record/binary_file.h"
#include "record/tuning_cache.h"
#include "base/text.h"

#define ROUNDS       3        /* of which the fastest counts */
#define ROUND        1000000u /* nanoseconds that a round is to take */
#define MOST_COMMITS 64u      /* of a round */
#define GAIN         20u      /* another row must be faster by one in so many */

/* ---- What is tried on ---- */

static glcnn_status copy_image(struct glcnn_device *device, struct image_view *view)
{
    const struct storage *s = view->storage;
    return s ? storage_create(device, s->width, s->height, s->layers, s->format, &view->storage)
             : GLCNN_SUCCESS;
}

static glcnn_status copy_vector(struct glcnn_device *device, struct vector_view *view)
{
    if (!view->buffer)
        return GLCNN_SUCCESS;
    view->offset = 0;
    return glcnn_buffer_create(device, view->count * 4, &view->buffer);
}

static void free_copy(struct operation *copy)
{
    for (size_t i = 0; i < MAX_ARGUMENTS; i++) {
        if (copy->images[i].storage)
            storage_release(copy->images[i].storage);
        glcnn_buffer_destroy(&copy->vectors[i].buffer);
    }
}

/* The operation on images and vectors of its own, all zeros: trials leave the user's as they are. */
static glcnn_status make_copy(const struct operation *o, struct operation *copy)
{
    glcnn_status status = GLCNN_SUCCESS;
    *copy = *o;
    for (size_t i = 0; i < MAX_ARGUMENTS; i++) {
        if (status == GLCNN_SUCCESS)
            status = copy_image(o->device, &copy->images[i]);
        if (status != GLCNN_SUCCESS)
            copy->images[i].storage = NULL;
        if (status == GLCNN_SUCCESS)
            status = copy_vector(o->device, &copy->vectors[i]);
        if (status != GLCNN_SUCCESS)
            copy->vectors[i].buffer = NULL;
    }
    if (status != GLCNN_SUCCESS)
        free_copy(copy);
    return status;
}

/* ---- Trials ---- */

/* A plan of the operation in a command buffer of its own; `alone` as the user's is. */
static void plan_trial(const struct operation *o, struct plan *plan, bool alone,
                       struct glcnn_command_buffer *commands, struct tuned *tuned)
{
    plan_begin(plan, commands);
    plan->kernel = alone ? kernel_display_name(o->kernel) : NULL;
    plan->tuned = tuned;
    o->descriptor->plan(o, plan);
    for (size_t i = 0; i < plan->pass_count; i++)
        plan->passes[i].refresh = NULL; /* the kernel does not move on */
}

static glcnn_status time_commits(struct glcnn_command_buffer *commands, uint64_t count,
                                 uint64_t *each)
{
    uint64_t (*now)(void) = commands->device->tuning_cache->clock;
    uint64_t start = now();
    glcnn_status status = GLCNN_SUCCESS;
    for (uint64_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = glcnn_command_buffer_commit(commands);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_wait(commands);
    *each = (now() - start) / count;
    return status;
}

/* The first commit is not counted: memory is taken then, and some drivers compile. The second tells
 * how many make a round. */
static glcnn_status time_rounds(struct glcnn_command_buffer *commands, uint64_t *best)
{
    uint64_t each = 0;
    glcnn_status status = time_commits(commands, 1, &each);
    if (status == GLCNN_SUCCESS)
        status = time_commits(commands, 1, &each);
    uint64_t count = ROUND / (each + 1) + 1;
    *best = UINT64_MAX;
    for (int i = 0; i < ROUNDS && status == GLCNN_SUCCESS; i++) {
        status = time_commits(commands, count < MOST_COMMITS ? count : MOST_COMMITS, &each);
        *best = each < *best ? each : *best;
    }
    return status;
}

/* Nanoseconds that the operation takes with `row`; UINT64_MAX where it cannot be told. */
static uint64_t time_row(const struct operation *copy, bool alone, const struct tuned *tuned,
                         const struct implementation *row)
{
    struct glcnn_command_buffer *commands = NULL;
    struct tuned with = *tuned;
    struct plan plan;
    uint64_t best = UINT64_MAX;
    with.decided[with.count].list = tuned->list;
    with.decided[with.count++].row = row;
    with.asks = false;
    if (glcnn_command_buffer_create(copy->device, &commands) != GLCNN_SUCCESS)
        return UINT64_MAX;
    plan_trial(copy, &plan, alone, commands, &with);
    if (plan_end(&plan) != GLCNN_SUCCESS || time_rounds(commands, &best) != GLCNN_SUCCESS)
        best = UINT64_MAX;
    glcnn_command_buffer_destroy(&commands);
    return best;
}

/* The fastest of the rows; that which is taken without trials unless another is faster by more than
 * the noise. NULL where that one cannot be timed: then nothing is decided. */
static const struct implementation *try_rows(const struct operation *o, bool alone,
                                             struct tuned *tuned)
{
    struct operation copy;
    const struct implementation *best = NULL;
    uint64_t least = UINT64_MAX;
    if (make_copy(o, &copy) != GLCNN_SUCCESS)
        return NULL;
    for (size_t i = 0; i < tuned->row_count; i++) {
        uint64_t taken = time_row(&copy, alone, tuned, tuned->rows[i]);
        device_log(o->device, GLCNN_LOG_DEBUG, "tuning: %s, %s: %.3f us",
                   kernel_display_name(o->kernel), tuned->rows[i]->name, 1e-3 * (double)taken);
        if (i == 0 && taken == UINT64_MAX)
            break;
        if (taken >= least)
            continue;
        best = tuned->rows[i];
        least = i == 0 ? taken - taken / GAIN : taken;
    }
    free_copy(&copy);
    return best;
}

/* ---- Keys ---- */

static void describe_image(struct text *key, const struct image_view *view)
{
    text_format(key, " %" PRIu32 "x%" PRIu32 "x%" PRIu32 "x%" PRIu32, view->images, view->channels,
                view->height, view->width);
    if (view->storage)
        text_format(key, ":%d", (int)view->storage->format);
}

/* All that the time of an operation depends on, and the rows that were open to it. */
static void describe(const struct operation *o, bool alone, const struct tuned *tuned,
                     struct text *key)
{
    const int32_t window[] = {o->window.x.first, o->window.x.begin, o->window.x.end,
                              o->window.y.first, o->window.y.begin, o->window.y.end};
    uint64_t hash = hash_bytes(HASH_BASIS, window, sizeof window);
    hash = hash_bytes(hash, o->parameters, o->descriptor->parameters_size);
    hash = hash_bytes(hash, &o->properties, sizeof o->properties);
    text_format(key, "%s %s %016" PRIx64 " %d %d %" PRIu32 "x%" PRIu32 " %" PRIu32,
                o->descriptor->name, o->device->info.traits.family, hash, alone, o->accumulate,
                o->region_width, o->region_height, o->trainable.count);
    if (o->device->info.limits_clamped)
        text_format(key, " min");
    for (size_t i = 0; i < MAX_ARGUMENTS; i++) {
        if (o->images[i].images)
            describe_image(key, &o->images[i]);
        text_format(key, ",%zu", o->vectors[i].buffer ? o->vectors[i].count : 0);
    }
    for (size_t i = 0; i < tuned->count; i++)
        text_format(key, " %s", tuned->decided[i].row->name);
    text_format(key, " of");
    for (size_t i = 0; i < tuned->row_count; i++)
        text_format(key, " %s", tuned->rows[i]->name);
}

/* ---- All of it ---- */

static const char *choose(const struct operation *o, bool alone, struct tuned *tuned,
                          const char *key)
{
    const char *names[TUNED_ROWS + 1] = {NULL};
    for (size_t i = 0; i < tuned->row_count; i++)
        names[i] = tuned->rows[i]->name;
    const char *kept = tuning_cache_find(o->device, key, names);
    const struct implementation *best = kept ? NULL : try_rows(o, alone, tuned);
    if (best)
        kept = tuning_cache_keep(o->device, key, names, best->name);
    return kept ? kept : tuned->rows[0]->name;
}

static void decide(const struct operation *o, bool alone, struct tuned *tuned)
{
    struct text key = {0};
    describe(o, alone, tuned, &key);
    const char *name = key.failed ? tuned->rows[0]->name : choose(o, alone, tuned, key.bytes);
    size_t i = 0;
    while (i + 1 < tuned->row_count && strcmp(tuned->rows[i]->name, name) != 0)
        i++;
    tuned->decided[tuned->count].list = tuned->list;
    tuned->decided[tuned->count++].row = tuned->rows[i];
    text_free(&key);
}

/* Plans once, for nothing but the lists that it asks for. */
static bool find_list(const struct operation *o, bool alone, struct tuned *tuned)
{
    struct glcnn_command_buffer *commands = NULL;
    struct plan plan;
    tuned->list = NULL;
    tuned->row_count = 0;
    if (tuned->count == TUNED_LISTS - 1 ||
        glcnn_command_buffer_create(o->device, &commands) != GLCNN_SUCCESS)
        return false;
    tuned->asks = true;
    plan_trial(o, &plan, alone, commands, tuned);
    tuned->asks = false;
    bool planned = plan.status == GLCNN_SUCCESS;
    plan_free(&plan);
    glcnn_command_buffer_destroy(&commands);
    return planned && tuned->list;
}

void tune(const struct operation *o, struct plan *plan, struct tuned *tuned)
{
    bool alone = !plan->command_buffer->deferred;
    *tuned = (struct tuned){0};
    if (o->device->tuning_cache->tuning == TUNING_OFF || !o->descriptor->implementations ||
        plan->status != GLCNN_SUCCESS)
        return;
    while (!o->device->lost && find_list(o, alone, tuned))
        decide(o, alone, tuned);
    plan->tuned = tuned;
}
