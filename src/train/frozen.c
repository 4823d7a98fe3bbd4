/* Two parts of a model, and the file of features between them. */
#include "frozen.h"

#include <glcnn/serialize.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

static bool fail_device(const struct frozen *f, char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(f->parameters.model->device));
    return false;
}

/* ---- Parts ---- */

static bool make_head(struct frozen *f, struct runner *head)
{
    const struct frozen_parameters *p = &f->parameters;
    return runner_create_inference(&f->head, p->batch, p->memory, head) &&
           pictures_take(p->pictures, p->saved, head == &f->augmented ? p->augment : NULL, p->seed,
                         head);
}

static bool make_room(struct frozen *f, char error[GLCNN_ERROR_LENGTH])
{
    const struct features *cut = &f->parameters.cut;
    uint64_t count = 0;
    for (uint32_t i = 0; i < cut->count; i++)
        count += feature_values(&cut->at[i]);
    f->value_count = (uint32_t)count;
    f->values = malloc((size_t)count * f->parameters.batch * sizeof *f->values);
    f->row = malloc((size_t)count * sizeof *f->row);
    if (!f->values || !f->row)
        snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    return f->values && f->row;
}

static bool make_parts(struct frozen *f, char error[GLCNN_ERROR_LENGTH])
{
    struct frozen_parameters *p = &f->parameters;
    const struct model_part head = {.to = p->cut, .form = p->model->form};
    if (!model_create_part(p->model, &head, p->batch, &f->head) || !make_head(f, &f->plain) ||
        !runner_sizes(&f->plain, p->cut.at))
        return fail_device(f, error);
    const struct model_part tail = {.from = p->cut, .form = p->model->form, .drops = true};
    return model_create_part(p->model, &tail, p->loss_images, &f->tail) ? make_room(f, error)
                                                                        : fail_device(f, error);
}

/* ---- Computing ---- */

static bool compute(struct frozen_feed *feed, const struct glcnn_data_batch *batch,
                    glcnn_image *images[FEATURES_MAX])
{
    return (feed->head->graph || make_head(feed->frozen, feed->head)) &&
           runner_results(feed->head, batch, images);
}

/* Each image has its values of all pictures behind one another; here those of picture n are. */
static void gather(struct frozen *f, uint32_t n)
{
    const struct frozen_parameters *p = &f->parameters;
    const float *from = f->values;
    float *to = f->row;
    for (uint32_t i = 0; i < p->cut.count; i++) {
        const size_t count = feature_values(&p->cut.at[i]);
        memcpy(to, from + n * count, count * sizeof *to);
        to += count;
        from += count * p->batch;
    }
}

static void scatter(struct frozen *f, uint32_t n)
{
    const struct frozen_parameters *p = &f->parameters;
    const float *from = f->row;
    float *to = f->values;
    for (uint32_t i = 0; i < p->cut.count; i++) {
        const size_t count = feature_values(&p->cut.at[i]);
        memcpy(to + n * count, from, count * sizeof *to);
        from += count;
        to += count * p->batch;
    }
}

static bool read_features(struct frozen_feed *feed, const struct glcnn_data_batch *batch,
                          glcnn_image *images[FEATURES_MAX], char error[GLCNN_ERROR_LENGTH])
{
    struct frozen *f = feed->frozen;
    for (uint32_t n = 0; n < batch->count; n++) {
        if (batch->indices[n] == UINT32_MAX)
            memset(f->row, 0, f->value_count * sizeof *f->row);
        else if (!features_read(f->features, feed->slots[batch->indices[n]], f->row, error))
            return false;
        scatter(f, n);
    }
    return runner_write(feed->runner, f->values, images);
}

static bool find(void *user, const struct glcnn_data_batch *batch,
                 glcnn_image *images[FEATURES_MAX], char error[GLCNN_ERROR_LENGTH])
{
    struct frozen_feed *feed = user;
    return feed->cached ? read_features(feed, batch, images, error) : compute(feed, batch, images);
}

void frozen_take(struct frozen_feed *feed, struct runner *runner)
{
    feed->runner = runner;
    runner->mix = &feed->head->input.mix;
    runner_take_from(runner, find, feed);
}

/* ---- Keeping ---- */

/* Finds the number of an image in its network. */
static uint32_t number_of(const glcnn_network *network, const glcnn_image_node *image)
{
    uint32_t i = 0;
    while (glcnn_network_image(network, i) && glcnn_network_image(network, i) != image)
        i++;
    return i;
}

static uint64_t add_cut(const struct frozen *f, uint64_t key)
{
    for (uint32_t i = 0; i < f->parameters.cut.count; i++) {
        const struct feature *at = &f->parameters.cut.at[i];
        const uint32_t numbers[] = {number_of(f->head.network, f->head.ends.at[i].image), at->width,
                                    at->height, at->channels};
        key = digest_add(key, numbers, sizeof numbers);
    }
    return key;
}

/* All that features depend on but the pixels: network and weights, how pictures come to it, device
 * and library. */
static bool find_key(const struct frozen *f, uint64_t *key)
{
    const struct frozen_parameters *p = &f->parameters;
    const struct glcnn_device_properties *device = glcnn_device_info(p->model->device);
    const uint64_t numbers[] = {p->pictures->info->bytes, p->batch, p->memory, p->cut.count};
    uint8_t *bytes;
    size_t size;
    if (glcnn_network_serialize(f->head.network, true, &bytes, &size, NULL) != GLCNN_SUCCESS)
        return false;
    *key = digest_add(DIGEST_START, bytes, size);
    glcnn_serialize_destroy(bytes);
    *key = digest_add(*key, numbers, sizeof numbers);
    *key = add_cut(f, *key);
    *key = digest_add(*key, &p->saved->form, sizeof p->saved->form);
    *key = digest_add(*key, p->saved->mean, sizeof p->saved->mean);
    *key = digest_add(*key, p->saved->deviation, sizeof p->saved->deviation);
    *key = digest_add(*key, &device->limits, sizeof device->limits);
    *key = digest_add(*key, device->renderer, strlen(device->renderer));
    *key = digest_add(*key, device->gl_version, strlen(device->gl_version));
    *key = digest_add(*key, glcnn_version(), strlen(glcnn_version()));
    return true;
}

static uint32_t limited(const struct frozen *f, glcnn_data_part part)
{
    uint32_t count = f->parameters.pictures->info->counts[part], limit = f->parameters.limit;
    return limit > 0 && limit < count ? limit : count;
}

static uint64_t digest_picture(const struct frozen *f, const struct glcnn_data_batch *batch,
                               uint32_t n)
{
    const struct form *form = &f->head.form;
    const size_t values = (size_t)form->width * form->height * form->channels;
    return batch->bytes
               ? digest_add(DIGEST_START, batch->bytes + n * values, values)
               : digest_add(DIGEST_START, batch->floats + n * values, values * sizeof(float));
}

static void give_slot(struct frozen_feed *feed, const struct glcnn_data_batch *batch, uint32_t n)
{
    if (batch->indices[n] != UINT32_MAX && feed->slots[batch->indices[n]] == NO_SLOT)
        feed->slots[batch->indices[n]] = feed->frozen->slot_count++;
}

static uint32_t slot_of(const struct frozen_feed *feed, const struct glcnn_data_batch *batch,
                        uint32_t n)
{
    return batch->indices[n] == UINT32_MAX ? NO_SLOT : feed->slots[batch->indices[n]];
}

static bool read_results(struct frozen *f, glcnn_image *const images[])
{
    const struct frozen_parameters *p = &f->parameters;
    float *to = f->values;
    bool good = true;
    for (uint32_t i = 0; i < p->cut.count && good; i++) {
        const size_t count = feature_values(&p->cut.at[i]) * p->batch;
        good = glcnn_image_read_bytes(images[i], NULL, to, count * sizeof *to) == GLCNN_SUCCESS;
        to += count;
    }
    return good;
}

/* Computes what a batch lacks of what has slots. False: the device or `error` has the message. */
static bool keep_batch(struct frozen_feed *feed, const struct glcnn_data_batch *batch,
                       char error[GLCNN_ERROR_LENGTH])
{
    struct frozen *f = feed->frozen;
    uint32_t missing = 0;
    for (uint32_t n = 0; n < batch->count; n++)
        missing +=
            slot_of(feed, batch, n) != NO_SLOT &&
            !features_have(f->features, slot_of(feed, batch, n), digest_picture(f, batch, n));
    f->computed += missing;
    if (missing == 0)
        return true;
    glcnn_image *images[FEATURES_MAX];
    if (!compute(&f->validation, batch, images) || !read_results(f, images))
        return fail_device(f, error);
    bool good = true;
    for (uint32_t n = 0; n < batch->count && good; n++) {
        const uint32_t slot = slot_of(feed, batch, n);
        if (slot == NO_SLOT)
            continue;
        gather(f, n);
        good = features_write(f->features, slot, digest_picture(f, batch, n), f->row, error);
    }
    return good;
}

static bool tell(const struct frozen *f, bool more, bool *any, char error[GLCNN_ERROR_LENGTH])
{
    *any = false;
    return !f->parameters.tell || f->parameters.tell(f->parameters.user, more, any, error);
}

static bool make_slots(struct frozen_feed *feed, uint32_t pictures, char error[GLCNN_ERROR_LENGTH])
{
    feed->slots = malloc((size_t)pictures * sizeof *feed->slots + 1);
    for (uint32_t i = 0; feed->slots && i < pictures; i++)
        feed->slots[i] = NO_SLOT;
    if (!feed->slots)
        snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    return feed->slots;
}

/* Pictures get slots in the order of this loader, which is that of every run. */
static bool keep_limited(struct frozen_feed *feed, glcnn_data_part part,
                         char error[GLCNN_ERROR_LENGTH])
{
    const struct frozen_parameters *p = &feed->frozen->parameters;
    const struct glcnn_data_loader_parameters parameters = {
        .part = part, .batch = p->batch, .limit = p->limit, .threads = p->threads};
    glcnn_data_loader *loader = NULL;
    bool good = pictures_load(p->pictures, &parameters, &loader, error);
    for (uint64_t i = 0; good && i < glcnn_data_loader_steps(loader); i++) {
        struct glcnn_data_batch batch;
        bool any;
        good = glcnn_data_loader_next(loader, &batch, error) == GLCNN_SUCCESS;
        for (uint32_t n = 0; good && n < batch.count; n++)
            give_slot(feed, &batch, n);
        good = good && keep_batch(feed, &batch, error) && tell(feed->frozen, true, &any, error);
    }
    glcnn_data_loader_destroy(&loader);
    return good;
}

/* Keeps the first whole picture behind a broken one, if there is one. */
static bool keep_stand_in(struct frozen_feed *feed, glcnn_data_part part, uint32_t broken,
                          char error[GLCNN_ERROR_LENGTH])
{
    const struct frozen_parameters *p = &feed->frozen->parameters;
    const struct glcnn_data_loader_parameters parameters = {.part = part,
                                                            .batch = p->batch,
                                                            .threads = p->threads,
                                                            .memory = 1,
                                                            .step = broken / p->batch};
    glcnn_data_loader *loader = NULL;
    bool good = pictures_load(p->pictures, &parameters, &loader, error), found = false;
    uint64_t left = good ? glcnn_data_loader_steps(loader) + 1 : 0; /* that one twice */
    for (uint32_t n = broken % p->batch + 1; good && !found && left > 0; n = 0, left--) {
        struct glcnn_data_batch batch;
        good = glcnn_data_loader_next(loader, &batch, error) == GLCNN_SUCCESS;
        while (good && n < batch.count && batch.indices[n] == UINT32_MAX)
            n++;
        found = good && n < batch.count;
        if (found)
            give_slot(feed, &batch, n);
        good = good && (!found || keep_batch(feed, &batch, error));
    }
    glcnn_data_loader_destroy(&loader);
    return good;
}

/* In shuffled batches the next whole picture of the part stands in for a broken one; --limit may
 * have left it out. */
static bool keep_stand_ins(struct frozen_feed *feed, glcnn_data_part part,
                           char error[GLCNN_ERROR_LENGTH])
{
    uint64_t count = feed->frozen->parameters.pictures->info->counts[part];
    uint32_t taken = limited(feed->frozen, part);
    bool good = true, any;
    for (uint32_t i = 0; i < taken && taken < count && good; i++) {
        uint32_t picture = (uint32_t)(i * count / taken); /* as glcnn/data.h says */
        if (feed->slots[picture] == NO_SLOT)
            good =
                keep_stand_in(feed, part, picture, error) && tell(feed->frozen, true, &any, error);
    }
    return good;
}

static bool keep_part(struct frozen_feed *feed, glcnn_data_part part,
                      char error[GLCNN_ERROR_LENGTH])
{
    uint32_t pictures = feed->frozen->parameters.pictures->info->counts[part];
    feed->cached = make_slots(feed, pictures, error) && keep_limited(feed, part, error) &&
                   (part != GLCNN_DATA_PART_TRAINING || keep_stand_ins(feed, part, error));
    return feed->cached;
}

/* The training part, unless its pictures change, and the one to validate with. */
static bool keep_parts(struct frozen *f, char error[GLCNN_ERROR_LENGTH])
{
    const struct frozen_parameters *p = &f->parameters;
    bool changes = augment_is_asked(p->augment);
    uint32_t training = changes ? 0 : limited(f, GLCNN_DATA_PART_TRAINING);
    struct features_parameters file = {.path = p->cache,
                                       .slots = training + limited(f, p->pictures->validation),
                                       .values = f->value_count,
                                       .limit = p->cache_limit};
    if (!find_key(f, &file.key))
        return fail_device(f, error);
    return features_open(&file, &f->features, error) &&
           (changes || keep_part(&f->training, GLCNN_DATA_PART_TRAINING, error)) &&
           keep_part(&f->validation, p->pictures->validation, error);
}

/* What cannot be kept is computed in each step. */
static void keep(struct frozen *f)
{
    const char *cache = f->parameters.cache;
    if (cache && strcmp(cache, "off") == 0)
        snprintf(f->reason, sizeof f->reason, "--feature-cache is off");
    else if (!keep_parts(f, f->reason)) {
        f->training.cached = f->validation.cached = false;
        features_close(&f->features);
    }
    if (f->validation.cached)
        runner_destroy(&f->plain);
}

static bool await_others(const struct frozen *f, char error[GLCNN_ERROR_LENGTH])
{
    bool good, any;
    do
        good = tell(f, false, &any, error);
    while (good && any);
    return good;
}

bool frozen_open(const struct frozen_parameters *parameters, struct frozen *f,
                 char error[GLCNN_ERROR_LENGTH])
{
    *f = (struct frozen){.parameters = *parameters};
    f->training.frozen = f->validation.frozen = f->test.frozen = f;
    f->validation.head = f->test.head = &f->plain;
    f->training.head = augment_is_asked(parameters->augment) ? &f->augmented : &f->plain;
    if (!make_parts(f, error))
        return false;
    keep(f);
    return await_others(f, error);
}

void frozen_close(struct frozen *f)
{
    runner_destroy(&f->augmented);
    runner_destroy(&f->plain);
    free(f->training.slots);
    free(f->validation.slots);
    model_destroy(&f->tail);
    model_destroy(&f->head);
    features_close(&f->features);
    free(f->values);
    free(f->row);
    *f = (struct frozen){.values = NULL};
}
