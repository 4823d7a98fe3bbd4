/* What executions exchange with other processes: buckets of gradients between the backward pass and
 * the updates, and what batch normalisations find of a batch. Each is a follower of the pass that
 * completes it (record/pass.h).
 *
 * A bucket's bytes are copied on the device to memory that the processor reads, so that a fence
 * behind the copy is all that reading waits for: mapping the gradients themselves would wait for
 * every pass that uses their buffer. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "device/fence.h"
#include "graph/exchange.h"
#include "graph/update.h"

#define LEAST_BUCKET ((size_t)64 << 10) /* bytes */
#define MOST_BUCKET  ((size_t)4 << 20)
#define BUCKETS      8 /* about, where sizes allow */
#define WHERE        "glcnn_graph_execute, exchanging gradients"

/* A vector of gradients, and where its bytes are in what is copied. */
struct vector {
    struct glcnn_buffer *memory; /* that it lies in */
    size_t offset, size, at;     /* bytes */
};

struct bucket {
    struct pass_callback base;
    struct exchange *exchange;
    struct vector *vectors;
    size_t vector_count, count; /* elements */
    size_t copied;              /* bytes, with the gaps between vectors */
    struct glcnn_buffer *staging;
    char *bytes; /* [copied]: on the way back */
    float *values;
    uint64_t serial; /* of the copy */
};

/* What a collector found: mean and variance, or sums. */
struct statistics {
    struct pass_callback base;
    struct exchange *exchange;
    struct statistics *next;
    struct glcnn_buffer *vectors[2];
    bool moments;
    double samples, all_samples;
};

struct exchange {
    const struct glcnn_exchange *engine; /* the graph's */
    struct glcnn_device *device;
    struct pass_callback end; /* of the last pass before the updates */
    struct bucket *buckets;
    size_t bucket_count;
    struct vector *vectors; /* of all buckets */
    size_t vector_count;
    size_t copied, begun; /* buckets of this execution */
    struct statistics *statistics;
};

/* ---- Life ---- */

glcnn_status exchange_create(struct recording *r)
{
    if (!r->graph->exchange.begin || !r->command_buffer->deferred)
        return GLCNN_SUCCESS;
    r->exchange = calloc(1, sizeof *r->exchange);
    if (!r->exchange)
        return device_fail(r->graph->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    r->exchange->engine = &r->graph->exchange;
    r->exchange->device = r->graph->device;
    return GLCNN_SUCCESS;
}

static void free_bucket(struct bucket *b)
{
    glcnn_buffer_destroy(&b->staging);
    free(b->bytes);
    free(b->values);
}

void exchange_destroy(struct exchange **exchange)
{
    struct exchange *old = *exchange;
    *exchange = NULL;
    if (!old)
        return;
    for (size_t i = 0; i < old->bucket_count; i++)
        free_bucket(&old->buckets[i]);
    while (old->statistics) {
        struct statistics *next = old->statistics->next;
        free(old->statistics);
        old->statistics = next;
    }
    free(old->buckets);
    free(old->vectors);
    free(old);
}

/* Behind those that follow the pass already. */
static void add_follower(struct pass *pass, struct pass_callback *follower)
{
    struct pass_callback **end = &pass->issue.callback;
    while (*end)
        end = &(*end)->next;
    *end = follower;
}

static struct pass *last_pass(const struct recording *r)
{
    return &r->command_buffer->passes[r->command_buffer->pass_count - 1];
}

static glcnn_status fail(const struct exchange *x, glcnn_status status, const char *error)
{
    return device_fail(x->device, status, WHERE ": %s", error);
}

/* ---- Statistics of batches ---- */

/* What a vector holds, and the sums of all processes in its place. */
static void to_sums(const struct statistics *s, const float *a, const float *b, size_t count,
                    double *sums)
{
    for (size_t c = 0; c < count; c++) {
        double mean = (double)a[c], second = (double)b[c] + mean * mean;
        sums[c] = s->moments ? s->samples * mean : (double)a[c];
        sums[count + c] = s->moments ? s->samples * second : (double)b[c];
    }
}

static void from_sums(const struct statistics *s, const double *sums, size_t count, float *a,
                      float *b)
{
    double divisor = s->moments ? s->all_samples : 1;
    for (size_t c = 0; c < count; c++) {
        double first = sums[c] / divisor, second = sums[count + c] / divisor;
        double variance = second - first * first;
        a[c] = (float)first;
        b[c] = (float)(!s->moments ? second : variance > 0 || isnan(variance) ? variance : 0);
    }
}

static glcnn_status sum_up(const struct statistics *s, float *a, float *b, double *sums,
                           size_t count)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct exchange *x = s->exchange;
    size_t size = count * sizeof *a;
    glcnn_status status = glcnn_buffer_read(s->vectors[0], 0, size, a);
    if (status == GLCNN_SUCCESS)
        status = glcnn_buffer_read(s->vectors[1], 0, size, b);
    if (status != GLCNN_SUCCESS)
        return status;
    to_sums(s, a, b, count, sums);
    status = x->engine->sum(x->engine->user, sums, 2 * count, error);
    if (status != GLCNN_SUCCESS)
        return fail(x, status, error);
    from_sums(s, sums, count, a, b);
    status = glcnn_buffer_write(s->vectors[0], 0, size, a);
    return status == GLCNN_SUCCESS ? glcnn_buffer_write(s->vectors[1], 0, size, b) : status;
}

static glcnn_status follow_statistics(struct pass_callback *follower)
{
    const struct statistics *s = (const struct statistics *)follower;
    size_t count = s->vectors[0]->size / 4;
    float *values = malloc(2 * count * sizeof *values);
    double *sums = malloc(2 * count * sizeof *sums);
    glcnn_status status = values && sums ? sum_up(s, values, values + count, sums, count)
                                         : device_fail(s->exchange->device, GLCNN_OUT_OF_MEMORY,
                                                       "out of memory exchanging statistics");
    free(values);
    free(sums);
    return status;
}

/* The state that a collector's passes fill. */
static struct glcnn_state *collected(const struct recording *r, size_t filter)
{
    const struct glcnn_filter_node *forward = r->graph->filters[filter].node->forward;
    struct glcnn_state *own = recording_state(r, filter, 0, 0);
    return own || !forward ? own : recording_state(r, graph_find_filter(r->graph, forward), 0, 0);
}

static void take_vectors(struct statistics *s, struct glcnn_state *state)
{
    static const char *const names[2][2] = {{"gradient_for_gamma", "gradient_for_beta"},
                                            {"mean", "variance"}};
    for (int i = 0; i < 2; i++)
        s->vectors[i] = glcnn_state_vector(state, names[s->moments][i]);
}

/* From here on the state counts the pixels of all. */
static void count_samples(const struct recording *r, struct statistics *s,
                          struct glcnn_state *state)
{
    s->samples = (double)state->samples;
    state->samples = state->samples / r->batch * r->graph->exchange.images;
    s->all_samples = (double)state->samples;
}

/* Sums for slopes of a neuron are a gradient like any other, which no pass of this step reads. */
static bool has_statistics(const struct glcnn_state *state)
{
    return glcnn_state_vector(state, "gradient_for_gamma") || glcnn_state_vector(state, "mean");
}

glcnn_status exchange_record_statistics(struct recording *r, size_t filter)
{
    struct glcnn_state *state = collected(r, filter);
    if (!r->exchange || !r->exchange->engine->sum || !state || !has_statistics(state))
        return GLCNN_SUCCESS;
    struct statistics *s = calloc(1, sizeof *s);
    if (!s)
        return device_fail(r->graph->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    *s = (struct statistics){.base.call = follow_statistics,
                             .exchange = r->exchange,
                             .next = r->exchange->statistics,
                             .moments = !r->graph->filters[filter].node->forward};
    r->exchange->statistics = s;
    take_vectors(s, state);
    if (s->moments)
        count_samples(r, s, state);
    add_follower(last_pass(r), &s->base);
    return GLCNN_SUCCESS;
}

static bool is_summed_up(const struct exchange *x, const struct glcnn_buffer *buffer)
{
    for (const struct statistics *s = x->statistics; s; s = s->next)
        if (s->vectors[0] == buffer || s->vectors[1] == buffer)
            return true;
    return false;
}

/* ---- Which vectors are in which bucket ---- */

static void add_vector(struct exchange *x, const struct glcnn_buffer *buffer)
{
    struct glcnn_buffer *memory = buffer->within ? buffer->within : (struct glcnn_buffer *)buffer;
    x->vectors[x->vector_count++] =
        (struct vector){.memory = memory, .offset = buffer->offset, .size = buffer->size};
}

static void list_vectors(const struct recording *r, struct exchange *x)
{
    for (size_t i = 0; i < r->graph->filter_count; i++) {
        if (!update_leads_any(r->graph, &r->graph->filters[i]))
            continue;
        const struct glcnn_state *state = update_state(r, &r->graph->filters[i]);
        for (size_t v = 0; v < state->vector_count; v++)
            if (update_is_gradient(&state->vectors[v]) &&
                !is_summed_up(x, state->vectors[v].buffer))
                add_vector(x, state->vectors[v].buffer);
    }
}

static size_t bucket_size(const struct exchange *x)
{
    size_t all = 0, wanted;
    for (size_t i = 0; i < x->vector_count; i++)
        all += x->vectors[i].size;
    wanted = all / BUCKETS;
    if (x->engine->bucket_bytes)
        return x->engine->bucket_bytes;
    return wanted < LEAST_BUCKET ? LEAST_BUCKET : wanted > MOST_BUCKET ? MOST_BUCKET : wanted;
}

/* Does `next` lie behind `vector` with nothing between but what alignment leaves (buffer_merge), so
 * that one copy takes both? */
static bool adjoins(const struct vector *vector, const struct vector *next)
{
    size_t end = vector->offset + vector->size;
    size_t alignment = vector->memory->device->info.limits.buffer_offset_alignment;
    return next->memory == vector->memory && next->offset >= end &&
           next->offset - end < (alignment < 16 ? 16 : alignment);
}

static void take_in(struct bucket *b, struct vector *vector)
{
    const struct vector *before = b->vector_count ? vector - 1 : NULL;
    bool is_adjacent = before && adjoins(before, vector);
    vector->at = is_adjacent ? before->at + (vector->offset - before->offset) : b->copied;
    b->copied = vector->at + vector->size;
    b->count += vector->size / 4;
    b->vector_count++;
}

static void fill_buckets(struct exchange *x)
{
    size_t wanted = bucket_size(x);
    for (size_t i = 0; i < x->vector_count;) {
        struct bucket *b = &x->buckets[x->bucket_count++];
        b->exchange = x;
        b->vectors = &x->vectors[i];
        while (i < x->vector_count && 4 * b->count < wanted)
            take_in(b, &x->vectors[i++]);
    }
}

/* ---- Where they begin ---- */

static bool writes(const struct pass *pass, const struct vector *vector)
{
    for (uint32_t i = 0; i < pass->buffer_count; i++) {
        const struct glcnn_buffer *buffer = pass->buffers[i].view.buffer;
        if (!buffer || !(pass->buffers[i].access & VECTOR_WRITE))
            continue;
        if ((buffer->within ? buffer->within : buffer) == vector->memory &&
            buffer->offset < vector->offset + vector->size &&
            vector->offset < buffer->offset + buffer->size)
            return true;
    }
    return false;
}

static bool completes(const struct pass *pass, const struct bucket *b)
{
    for (size_t i = 0; i < b->vector_count; i++)
        if (writes(pass, &b->vectors[i]))
            return true;
    return false;
}

/* Buckets begin in their order, so none follows a pass before that of the one before it. */
static void add_followers(const struct recording *r, struct exchange *x)
{
    size_t earliest = 0;
    for (size_t i = 0; i < x->bucket_count; i++) {
        size_t last = r->command_buffer->pass_count - 1;
        while (last > earliest && !completes(&r->command_buffer->passes[last], &x->buckets[i]))
            last--;
        add_follower(&r->command_buffer->passes[last], &x->buckets[i].base);
        earliest = last;
    }
    add_follower(last_pass(r), &x->end);
}

static glcnn_status allocate_bucket(const struct exchange *x, struct bucket *b)
{
    b->bytes = calloc(1, b->copied);
    b->values = malloc(b->count * sizeof *b->values);
    if (!b->bytes || !b->values)
        return device_fail(x->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    return buffer_create_mapped(x->device, b->copied, GL_MAP_READ_BIT, &b->staging);
}

/* ---- An execution ---- */

/* Calls `run` for each stretch of the bucket's vectors that is copied in one. */
static glcnn_status for_each_stretch(struct bucket *b,
                                     glcnn_status (*run)(struct bucket *b,
                                                         const struct vector *first, size_t size))
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0, first = 0; i < b->vector_count && status == GLCNN_SUCCESS; i++) {
        const struct vector *v = &b->vectors[i];
        if (i + 1 < b->vector_count && adjoins(v, v + 1))
            continue;
        status = run(b, &b->vectors[first], v->at + v->size - b->vectors[first].at);
        first = i + 1;
    }
    return status;
}

static glcnn_status copy_out(struct bucket *b, const struct vector *first, size_t size)
{
    return buffer_copy(first->memory, first->offset, b->staging, first->at, size);
}

/* What lies between vectors is 0 there and here. */
static glcnn_status write_back(struct bucket *b, const struct vector *first, size_t size)
{
    return glcnn_buffer_write(first->memory, first->offset, size, b->bytes + first->at);
}

static struct glcnn_gradient_bucket describe(const struct bucket *b)
{
    const struct exchange *x = b->exchange;
    return (struct glcnn_gradient_bucket){.index = (uint32_t)(b - x->buckets),
                                          .buckets = (uint32_t)x->bucket_count,
                                          .values = b->values,
                                          .count = b->count};
}

static glcnn_status begin(struct bucket *b)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct glcnn_exchange *engine = b->exchange->engine;
    const struct glcnn_gradient_bucket bucket = describe(b);
    void *mapped;
    glcnn_status status = buffer_map(b->staging, b->copied, &mapped, WHERE);
    if (status != GLCNN_SUCCESS)
        return status;
    for (size_t i = 0, at = 0; i < b->vector_count; at += b->vectors[i++].size / 4)
        memcpy(b->values + at, (const char *)mapped + b->vectors[i].at, b->vectors[i].size);
    status = buffer_unmap(b->staging, b->copied, WHERE);
    if (status != GLCNN_SUCCESS)
        return status;
    status = engine->begin(engine->user, &bucket, error);
    b->exchange->begun++;
    return status == GLCNN_SUCCESS ? status : fail(b->exchange, status, error);
}

static void progress(void *user)
{
    const struct exchange *x = user;
    if (x->engine->progress)
        x->engine->progress(x->engine->user);
}

/* Those whose copies are done. */
static glcnn_status begin_ready(struct exchange *x)
{
    glcnn_status status = GLCNN_SUCCESS;
    bool passed = true;
    while (x->begun < x->copied && status == GLCNN_SUCCESS && passed) {
        status = fence_poll(x->device, x->buckets[x->begun].serial, &passed, WHERE);
        if (status == GLCNN_SUCCESS && passed)
            status = begin(&x->buckets[x->begun]);
    }
    progress(x);
    return status;
}

static glcnn_status follow_bucket(struct pass_callback *follower)
{
    struct bucket *b = (struct bucket *)follower;
    struct exchange *x = b->exchange;
    if (b == x->buckets)
        x->copied = x->begun = 0;
    glcnn_status status = for_each_stretch(b, copy_out);
    if (status != GLCNN_SUCCESS)
        return status;
    buffer_show(b->staging);
    b->serial = ++x->device->serial;
    status = fence_mark(x->device, WHERE);
    x->device->gl.Flush();
    x->copied++;
    return status == GLCNN_SUCCESS ? begin_ready(x) : status;
}

static glcnn_status begin_all(struct exchange *x)
{
    struct progress *waits = &x->device->progress;
    glcnn_status status = GLCNN_SUCCESS;
    waits->meanwhile = progress;
    waits->meanwhile_user = x;
    while (x->begun < x->bucket_count && status == GLCNN_SUCCESS) {
        status = fence_await(x->device, x->buckets[x->begun].serial, WHERE);
        if (status == GLCNN_SUCCESS)
            status = begin(&x->buckets[x->begun]);
    }
    waits->meanwhile = NULL;
    return status;
}

static glcnn_status finish(struct bucket *b)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct glcnn_exchange *engine = b->exchange->engine;
    const struct glcnn_gradient_bucket bucket = describe(b);
    glcnn_status status = engine->finish(engine->user, &bucket, error);
    if (status != GLCNN_SUCCESS)
        return fail(b->exchange, status, error);
    for (size_t i = 0, at = 0; i < b->vector_count; at += b->vectors[i++].size / 4)
        memcpy(b->bytes + b->vectors[i].at, b->values + at, b->vectors[i].size);
    return for_each_stretch(b, write_back);
}

static glcnn_status follow_end(struct pass_callback *follower)
{
    struct exchange *x =
        (struct exchange *)(void *)((char *)follower - offsetof(struct exchange, end));
    glcnn_status status = begin_all(x);
    for (size_t i = 0; i < x->bucket_count && status == GLCNN_SUCCESS; i++)
        status = finish(&x->buckets[i]);
    return status;
}

/* ---- Recording ---- */

glcnn_status exchange_record_gradients(struct recording *r)
{
    struct exchange *x = r->exchange;
    if (!x)
        return GLCNN_SUCCESS;
    size_t most = r->graph->filter_count * GLCNN_STATE_VECTORS + 1;
    x->vectors = calloc(most, sizeof *x->vectors);
    x->buckets = calloc(most, sizeof *x->buckets);
    if (!x->vectors || !x->buckets)
        return device_fail(x->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    list_vectors(r, x);
    fill_buckets(x);
    x->end.call = follow_end;
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < x->bucket_count && status == GLCNN_SUCCESS; i++) {
        x->buckets[i].base.call = follow_bucket;
        status = allocate_bucket(x, &x->buckets[i]);
    }
    if (status == GLCNN_SUCCESS && x->bucket_count)
        add_followers(r, x);
    return status;
}
