/* Batches that threads make ahead.
 *
 * Batch `step` is made in batches[step % depth]. Threads take the places of the steps one after the
 * other: a step is begun while it is less than `depth` ahead of the one that the caller holds, so
 * memory is bounded. What a place holds follows only from the step and the place. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "set.h"

#define DEFAULT_BATCH   32
#define MAX_BATCH       65536
#define MAX_THREADS     256
#define DEFAULT_THREADS 16
#define DEFAULT_MEMORY  ((uint64_t)64 << 20)
#define MAX_DEPTH       64
#define TABLE_RUN       32 /* places that a thread takes at once where nothing is decoded */

struct batch {
    void *images;
    uint32_t *labels, *indices;
    float *numbers;
    uint8_t *masks;
    const struct glcnn_data_box **boxes;
    uint32_t *box_counts;
    uint32_t *widths, *heights;
    uint32_t open; /* places that are not done */
    glcnn_status status;
    uint32_t failed_at; /* the first place that failed */
    char error[GLCNN_ERROR_LENGTH];
};

struct glcnn_data_loader {
    glcnn_dataset *set;
    struct glcnn_data_loader_parameters parameters;
    const struct part *part;
    uint32_t count; /* images of an epoch */
    uint64_t steps; /* of an epoch */
    uint32_t depth;
    size_t values, element; /* of an image, and the bytes of each */
    size_t numbers, pixels; /* of an image's targets: its numbers, or its mask; 0: none */
    float scale[GLCNN_DATA_MAX_CHANNELS], shift[GLCNN_DATA_MAX_CHANNELS];
    float of_byte[GLCNN_DATA_MAX_CHANNELS][256]; /* what each byte becomes */
    pthread_t threads[MAX_THREADS];
    uint32_t thread_count;
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    /* Below the mutex. */
    struct batch batches[MAX_DEPTH];
    uint32_t *order; /* of the epoch of `begun` */
    uint64_t begun;  /* the step whose places are given out */
    uint32_t place;  /* the next of them; 0: the step is not begun */
    uint64_t held;   /* the step that the caller has, or will have first */
    bool has_held, stops, has_order;
    uint64_t order_epoch;
    struct glcnn_data_loader_statistics statistics;
    struct timespec start;
    bool has_started;
    glcnn_status failure;
    char error[GLCNN_ERROR_LENGTH];
};

/* A thread's room for the pixels of a picture, or as image_values_read needs it. */
struct worker {
    glcnn_data_loader *loader;
    uint8_t *pixels;
};

/* ---- Orders ---- */

static void order_epoch(glcnn_data_loader *l, uint64_t epoch)
{
    if (l->has_order && l->order_epoch == epoch)
        return;
    for (uint32_t i = 0; i < l->count; i++)
        l->order[i] = (uint32_t)((uint64_t)i * l->part->count / l->count);
    if (l->parameters.shuffle) {
        uint64_t state = order_state(l->parameters.seed, epoch);
        order_shuffle(&state, l->order, l->count);
    }
    l->has_order = true;
    l->order_epoch = epoch;
}

/* Says which image goes to which place. */
static void begin_step(glcnn_data_loader *l)
{
    struct batch *b = &l->batches[l->begun % l->depth];
    uint32_t size = l->parameters.share;
    uint64_t first = l->begun % l->steps * l->parameters.batch + l->parameters.share_first;
    order_epoch(l, l->begun / l->steps);
    for (uint32_t n = 0; n < size; n++)
        b->indices[n] = first + n < l->count ? l->order[first + n] : UINT32_MAX;
    b->open = size;
    b->status = GLCNN_SUCCESS;
}

/* ---- Places ---- */

/* (v - 0) / 1 is v, bit for bit. */
static float normalise(const glcnn_data_loader *l, float value, size_t channel)
{
    return (value - l->shift[channel]) / l->scale[channel];
}

static void write_floats(const glcnn_data_loader *l, const uint8_t *bytes, const float *floats,
                         float *to)
{
    size_t channels = l->set->info.channels, pixels = l->values / channels;
    size_t step = l->parameters.interleaved ? channels : 1;
    for (size_t c = 0; c < channels; c++) {
        float *at = to + (l->parameters.interleaved ? c : c * pixels);
        for (size_t i = 0; bytes && i < pixels; i++)
            at[i * step] = l->of_byte[c][bytes[i * channels + c]];
        for (size_t i = 0; floats && i < pixels; i++)
            at[i * step] = normalise(l, floats[i * channels + c], c);
    }
}

static void write_bytes(const glcnn_data_loader *l, const uint8_t *bytes, uint8_t *to)
{
    size_t channels = l->set->info.channels, pixels = l->values / channels;
    if (l->parameters.interleaved || channels == 1) {
        memcpy(to, bytes, l->values);
        return;
    }
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++)
            to[c * pixels + i] = *bytes++;
}

static void write_image(const glcnn_data_loader *l, const uint8_t *bytes, const float *floats,
                        struct batch *b, uint32_t place)
{
    if (l->parameters.bytes)
        write_bytes(l, bytes, (uint8_t *)b->images + place * l->values);
    else
        write_floats(l, bytes, floats, (float *)b->images + place * l->values);
}

static void write_item(const glcnn_data_loader *l, const struct item *item,
                       const struct image_values *v, struct batch *b, uint32_t place)
{
    write_image(l, v->bytes, v->floats, b, place);
    b->labels[place] = item->label;
    if (l->numbers)
        memcpy(b->numbers + place * l->numbers, l->set->numbers.values + item->target * l->numbers,
               l->numbers * sizeof *b->numbers);
}

static void leave_empty(const glcnn_data_loader *l, struct batch *b, uint32_t place)
{
    memset((uint8_t *)b->images + place * l->values * l->element, 0, l->values * l->element);
    memset(b->numbers + place * l->numbers, 0, l->numbers * sizeof *b->numbers);
    memset(b->masks + place * l->pixels, GLCNN_DATA_NO_CLASS, l->pixels);
    b->labels[place] = GLCNN_DATA_NO_LABEL;
    b->indices[place] = UINT32_MAX;
}

static glcnn_status find_values(struct worker *w, const struct item *item, struct image_values *v,
                                char *error)
{
    bool decoded = false;
    glcnn_data_loader *l = w->loader;
    *v = (struct image_values){.bytes = w->pixels};
    if (item->table != NO_TABLE)
        return l->parameters.labels_only ? GLCNN_SUCCESS
                                         : image_values_read(l->set, item, w->pixels, v, error);
    if (l->parameters.labels_only)
        return set_is_broken(l->set, item->index) ? GLCNN_MALFORMED_DATA : GLCNN_SUCCESS;
    glcnn_status status = set_pixels(l->set, item->index, w->pixels, &decoded, error);
    if (decoded) {
        pthread_mutex_lock(&l->mutex);
        l->statistics.decoded++;
        pthread_mutex_unlock(&l->mutex);
    }
    return status;
}

/* In a shuffled batch the next whole image of the part stands in for a broken one: which that is
 * does not depend on what else was decoded. */
static glcnn_status fill_place(struct worker *w, struct batch *b, uint32_t place, char *error)
{
    const glcnn_data_loader *l = w->loader;
    bool replaces = l->parameters.shuffle && !l->set->parameters.strict;
    for (uint32_t tried = 0; tried < l->part->count && b->indices[place] != UINT32_MAX; tried++) {
        struct image_values values;
        const struct item *item = &l->part->items[b->indices[place]];
        glcnn_status status = find_values(w, item, &values, error);
        if (status == GLCNN_SUCCESS && l->pixels)
            status = set_mask(l->set, l->parameters.part, item->target,
                              b->masks + place * l->pixels, error);
        if (status == GLCNN_SUCCESS)
            write_item(l, item, &values, b, place);
        if (status != GLCNN_MALFORMED_DATA || l->set->parameters.strict)
            return status;
        if (!replaces)
            break;
        b->indices[place] = (b->indices[place] + 1) % l->part->count;
    }
    if (replaces)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: every picture of the part is damaged", l->set->path);
    leave_empty(l, b, place);
    return GLCNN_SUCCESS;
}

/* ---- Threads ---- */

/* Takes the next places; their number, 0: the loader stops. */
static uint32_t take_places(glcnn_data_loader *l, struct batch **batch, uint32_t *first)
{
    uint32_t size = l->parameters.share, run = l->set->file_count > 0 ? 1 : TABLE_RUN;
    pthread_mutex_lock(&l->mutex);
    while (!l->stops && l->begun - l->held >= l->depth)
        pthread_cond_wait(&l->work, &l->mutex);
    uint32_t count = l->stops ? 0 : size - l->place < run ? size - l->place : run;
    if (count > 0) {
        if (l->place == 0)
            begin_step(l);
        *batch = &l->batches[l->begun % l->depth];
        *first = l->place;
        l->place = (l->place + count) % size;
        l->begun += l->place == 0;
    }
    pthread_mutex_unlock(&l->mutex);
    return count;
}

/* Of several failures the one of the first place is told, so that threads make no difference. */
static void finish_places(glcnn_data_loader *l, struct batch *b, uint32_t first, uint32_t count,
                          glcnn_status status, const char *error)
{
    pthread_mutex_lock(&l->mutex);
    if (status != GLCNN_SUCCESS && (b->status == GLCNN_SUCCESS || first < b->failed_at)) {
        b->status = status;
        b->failed_at = first;
        memcpy(b->error, error, sizeof b->error);
    }
    b->open -= count;
    if (b->open == 0)
        pthread_cond_signal(&l->done);
    pthread_mutex_unlock(&l->mutex);
}

static void *work(void *argument)
{
    struct worker *w = argument;
    struct batch *batch = NULL;
    uint32_t first = 0, count;
    while ((count = take_places(w->loader, &batch, &first)) > 0) {
        char error[GLCNN_ERROR_LENGTH] = "";
        glcnn_status status = GLCNN_SUCCESS;
        uint32_t n = 0;
        for (; n < count && status == GLCNN_SUCCESS; n++)
            status = fill_place(w, batch, first + n, error);
        finish_places(w->loader, batch, first + n - 1, count, status, error);
    }
    free(w->pixels);
    free(w);
    return NULL;
}

static bool start_thread(glcnn_data_loader *l)
{
    struct worker *w = malloc(sizeof *w);
    uint8_t *pixels = malloc(image_values_room(l->set));
    if (w)
        *w = (struct worker){l, pixels};
    if (w && pixels && pthread_create(&l->threads[l->thread_count], NULL, work, w) == 0) {
        l->thread_count++;
        return true;
    }
    free(pixels);
    free(w);
    return false;
}

/* Signals are for the caller's threads. Fewer threads than asked for do as well. */
static glcnn_status start_threads(glcnn_data_loader *l, char *error)
{
    sigset_t all, before;
    uint32_t wanted = l->parameters.threads;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (l->thread_count < wanted && start_thread(l))
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return l->thread_count > 0 ? GLCNN_SUCCESS
                               : fail_with(error, GLCNN_OUT_OF_MEMORY, "no thread can be started");
}

/* ---- Creating ---- */

static glcnn_status check_ranges(const struct glcnn_data_loader_parameters *p, char *error)
{
    if ((unsigned)p->part >= GLCNN_DATA_PARTS)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "part is %u; expected 0 to 2",
                         (unsigned)p->part);
    if (p->batch > MAX_BATCH)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "batch is %u; expected %d at most",
                         p->batch, MAX_BATCH);
    uint32_t batch = p->batch ? p->batch : DEFAULT_BATCH;
    if (p->share_first >= batch || p->share > batch - p->share_first)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "share is %u images from number %u on, of a batch of %u", p->share,
                         p->share_first, batch);
    if (p->threads > MAX_THREADS)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "threads is %u; expected %d at most",
                         p->threads, MAX_THREADS);
    return GLCNN_SUCCESS;
}

static uint32_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > DEFAULT_THREADS ? DEFAULT_THREADS : (uint32_t)count;
}

static glcnn_status take_normalisation(glcnn_data_loader *l, char *error)
{
    const struct glcnn_data_loader_parameters *p = &l->parameters;
    for (uint32_t c = 0; c < l->set->info.channels; c++) {
        l->shift[c] = p->mean ? p->mean[c] : 0;
        l->scale[c] = p->deviation ? p->deviation[c] : 1;
        if (!(l->scale[c] > 0) || !isfinite(l->scale[c]) || !isfinite(l->shift[c]))
            return fail_with(
                error, GLCNN_INVALID_ARGUMENT,
                "mean and deviation of channel %u are %g and %g; expected numbers, the "
                "deviation above 0",
                c, (double)l->shift[c], (double)l->scale[c]);
    }
    for (uint32_t c = 0; c < l->set->info.channels; c++)
        for (uint32_t byte = 0; byte < 256; byte++)
            l->of_byte[c][byte] = normalise(l, (float)byte / 255.0f, c);
    if (p->bytes && !l->set->info.bytes)
        return fail_with(error, GLCNN_UNSUPPORTED,
                         "%.300s: bytes are requested, but its values are other numbers",
                         l->set->path);
    return GLCNN_SUCCESS;
}

static glcnn_status take_parameters(glcnn_data_loader *l, char *error)
{
    struct glcnn_data_loader_parameters *p = &l->parameters;
    p->batch = p->batch ? p->batch : DEFAULT_BATCH;
    p->share = p->share ? p->share : p->batch - p->share_first;
    p->threads = p->threads ? p->threads : processors();
    p->memory = p->memory ? p->memory : DEFAULT_MEMORY;
    l->part = &l->set->parts[p->part];
    l->count = p->limit && p->limit < l->part->count ? p->limit : l->part->count;
    p->group = p->group ? p->group : 1;
    l->steps = p->shuffle ? l->count / p->batch / p->group * p->group
                          : ((uint64_t)l->count + p->batch - 1) / p->batch;
    l->values = p->labels_only ? 0 : set_values(l->set);
    l->element = p->bytes ? 1 : sizeof(float);
    l->numbers = l->set->numbers.rows > 0 ? l->set->numbers.count : 0;
    l->pixels = l->set->masks.count > 0 ? (size_t)l->set->info.width * l->set->info.height : 0;
    l->begun = l->held = p->step;
    if (l->count == 0)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "%.300s: the part has no image",
                         l->set->path);
    if (l->steps == 0)
        return fail_with(
            error, GLCNN_INVALID_ARGUMENT, "%s of %u images is more than the %u available",
            p->group > 1 ? "a group of batches" : "a batch", p->batch * p->group, l->count);
    return take_normalisation(l, error);
}

static bool make_batch(const glcnn_data_loader *l, struct batch *b)
{
    size_t size = l->parameters.share, bytes = l->values * l->element;
    b->images = bytes < SIZE_MAX / size ? malloc(size * bytes + 1) : NULL;
    b->labels = malloc(size * sizeof *b->labels);
    b->indices = malloc(size * sizeof *b->indices);
    b->numbers = malloc(size * l->numbers * sizeof *b->numbers + 1);
    b->masks = malloc(size * l->pixels + 1);
    b->boxes = malloc(size * sizeof *b->boxes);
    b->box_counts = malloc(size * sizeof *b->box_counts);
    b->widths = malloc(size * sizeof *b->widths);
    b->heights = malloc(size * sizeof *b->heights);
    return b->images && b->labels && b->indices && b->numbers && b->masks && b->boxes &&
           b->box_counts && b->widths && b->heights;
}

static glcnn_status make_batches(glcnn_data_loader *l, char *error)
{
    uint64_t bytes = ((uint64_t)l->values * l->element + l->numbers * sizeof(float) + l->pixels) *
                     l->parameters.share;
    uint64_t fitting = bytes > 0 ? l->parameters.memory / bytes : MAX_DEPTH;
    l->depth = fitting < 2 ? 2 : fitting > MAX_DEPTH ? MAX_DEPTH : (uint32_t)fitting;
    l->order = malloc(l->count * sizeof *l->order);
    bool good = l->order != NULL;
    for (uint32_t i = 0; i < l->depth && good; i++)
        good = make_batch(l, &l->batches[i]);
    return good ? GLCNN_SUCCESS
                : fail_with(error, GLCNN_OUT_OF_MEMORY,
                            "not enough memory for %u batches of %llu bytes", l->depth,
                            (unsigned long long)bytes);
}

static glcnn_status make_locks(glcnn_data_loader *l, char *error)
{
    if (pthread_mutex_init(&l->mutex, NULL) == 0 && pthread_cond_init(&l->work, NULL) == 0 &&
        pthread_cond_init(&l->done, NULL) == 0)
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory for locks");
}

glcnn_status glcnn_data_loader_create(glcnn_dataset *data,
                                      const struct glcnn_data_loader_parameters *parameters,
                                      glcnn_data_loader **loader, char error[GLCNN_ERROR_LENGTH])
{
    static const struct glcnn_data_loader_parameters none = {0};
    if (loader)
        *loader = NULL;
    if (!data || !loader)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "data or loader is NULL");
    const struct glcnn_data_loader_parameters *p = parameters ? parameters : &none;
    glcnn_status status = check_ranges(p, error);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_data_loader *l = calloc(1, sizeof *l);
    if (!l)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    l->set = data;
    l->parameters = *p;
    *loader = l;
    status = make_locks(l, error);
    if (status == GLCNN_SUCCESS)
        status = take_parameters(l, error);
    if (status == GLCNN_SUCCESS)
        status = make_batches(l, error);
    if (status == GLCNN_SUCCESS)
        status = start_threads(l, error);
    if (status != GLCNN_SUCCESS)
        glcnn_data_loader_destroy(loader);
    return status;
}

void glcnn_data_loader_destroy(glcnn_data_loader **loader)
{
    glcnn_data_loader *l = loader ? *loader : NULL;
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    l->stops = true;
    pthread_cond_broadcast(&l->work);
    pthread_mutex_unlock(&l->mutex);
    for (uint32_t i = 0; i < l->thread_count; i++)
        pthread_join(l->threads[i], NULL);
    for (uint32_t i = 0; i < MAX_DEPTH; i++) {
        free(l->batches[i].images);
        free(l->batches[i].labels);
        free(l->batches[i].indices);
        free(l->batches[i].numbers);
        free(l->batches[i].masks);
        free(l->batches[i].boxes);
        free(l->batches[i].box_counts);
        free(l->batches[i].widths);
        free(l->batches[i].heights);
    }
    pthread_cond_destroy(&l->work);
    pthread_cond_destroy(&l->done);
    pthread_mutex_destroy(&l->mutex);
    free(l->order);
    free(l);
    *loader = NULL;
}

/* ---- Batches ---- */

uint64_t glcnn_data_loader_steps(const glcnn_data_loader *loader)
{
    return loader->steps;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

/* Gives the batch of before back, and waits for the next. */
static struct batch *wait_for_next(glcnn_data_loader *l)
{
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (!l->has_started)
        l->start = start;
    l->has_started = true;
    l->held += l->has_held;
    l->has_held = true;
    pthread_cond_broadcast(&l->work);
    struct batch *b = &l->batches[l->held % l->depth];
    bool waits = false;
    while (l->begun < l->held || (l->begun == l->held && l->place == 0) || b->open > 0) {
        waits = true;
        pthread_cond_wait(&l->done, &l->mutex);
    }
    if (waits)
        l->statistics.waited += seconds_since(&start);
    return b;
}

static void describe(const glcnn_data_loader *l, const struct batch *b,
                     struct glcnn_data_batch *batch)
{
    *batch = (struct glcnn_data_batch){.step = l->held,
                                       .epoch = l->held / l->steps,
                                       .count = l->parameters.share,
                                       .labels = b->labels,
                                       .numbers = l->numbers ? b->numbers : NULL,
                                       .masks = l->pixels ? b->masks : NULL,
                                       .indices = b->indices,
                                       .widths = b->widths,
                                       .heights = b->heights};
    if (l->parameters.bytes)
        batch->bytes = l->parameters.labels_only ? NULL : b->images;
    else if (!l->parameters.labels_only)
        batch->floats = b->images;
    for (uint32_t n = 0; n < batch->count; n++) {
        b->boxes[n] =
            glcnn_dataset_boxes(l->set, l->parameters.part, b->indices[n], &b->box_counts[n]);
        glcnn_dataset_size(l->set, l->parameters.part, b->indices[n], &b->widths[n],
                           &b->heights[n]);
        batch->filled += b->indices[n] != UINT32_MAX;
    }
    if (l->set->parameters.targets == GLCNN_DATA_TARGETS_BOXES) {
        batch->boxes = b->boxes;
        batch->box_counts = b->box_counts;
    }
}

glcnn_status glcnn_data_loader_next(glcnn_data_loader *loader, struct glcnn_data_batch *batch,
                                    char error[GLCNN_ERROR_LENGTH])
{
    if (!loader || !batch)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "loader or batch is NULL");
    *batch = (struct glcnn_data_batch){0};
    if (loader->failure != GLCNN_SUCCESS)
        return fail_with(error, loader->failure, "%s", loader->error);
    pthread_mutex_lock(&loader->mutex);
    struct batch *b = wait_for_next(loader);
    loader->failure = b->status;
    loader->statistics.batches += b->status == GLCNN_SUCCESS;
    memcpy(loader->error, b->error, sizeof loader->error);
    pthread_mutex_unlock(&loader->mutex);
    if (loader->failure != GLCNN_SUCCESS)
        return fail_with(error, loader->failure, "%s", loader->error);
    describe(loader, b, batch);
    return GLCNN_SUCCESS;
}

struct glcnn_data_loader_statistics
glcnn_data_loader_get_statistics(const glcnn_data_loader *loader)
{
    glcnn_data_loader *l = (glcnn_data_loader *)loader;
    pthread_mutex_lock(&l->mutex);
    struct glcnn_data_loader_statistics statistics = l->statistics;
    statistics.elapsed = l->has_started ? seconds_since(&l->start) : 0;
    pthread_mutex_unlock(&l->mutex);
    return statistics;
}
