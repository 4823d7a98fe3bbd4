/* How a run of glcnn train begins and ends: what it is made of, and what it tells of that. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "task/onnx_record.h"
#include "parameters.h"
#include "base/clock.h"
#include "train_session.h"

/* --feature-cache off. */
static bool is_off(const char *cache)
{
    return cache && strcmp(cache, "off") == 0;
}

/* Ranks do not share what was asked for: FILE is the first's, FILE.1, FILE.2 .. the others'. */
static void name_features(glcnn_trainer *s)
{
    const char *cache = s->settings.cache;
    if (cache && s->ranks.rank > 0 && !is_off(cache))
        snprintf(s->features_path, sizeof s->features_path, "%s.%u", cache, s->ranks.rank);
    else if (cache)
        snprintf(s->features_path, sizeof s->features_path, "%s", cache);
}

/* model.best.safetensors for model.safetensors, model.best for model; model.features for both. */
static void name_files(glcnn_trainer *s)
{
    if (s->settings.report)
        snprintf(s->report_path, sizeof s->report_path, "%s/index.html", s->settings.report);
    const char *out = ranks_leads(&s->ranks) ? s->settings.out : NULL;
    if (!out)
        return;
    const char *slash = strrchr(out, '/'), *name = slash ? slash + 1 : out;
    const char *dot = strrchr(name, '.');
    int stem = (int)(dot && dot != name ? dot - out : (ptrdiff_t)strlen(out));
    snprintf(s->best_path, sizeof s->best_path, "%.*s.best%s", stem, out, out + stem);
    snprintf(s->features_path, sizeof s->features_path, "%.*s.features", stem, out);
}

static glcnn_status allocate(glcnn_trainer *s)
{
    const struct form *form = &s->pictures.form;
    size_t batch = s->ranks.share;
    s->scores = calloc(batch, form->classes * sizeof *s->scores);
    s->tests = calloc(batch, s->settings.task->values(form) * sizeof *s->tests);
    s->losses = calloc(batch, sizeof *s->losses);
    return s->scores && s->tests && s->losses ? GLCNN_SUCCESS
                                              : session_fail(s, "not enough memory");
}

/* Other ranks are mute, and each has a file of its own. */
static void say_not_kept(const glcnn_trainer *s)
{
    const struct frozen *f = &s->frozen;
    events_note(s->events, "features: not kept: %s\n", f->reason);
    if (s->ranks.rank > 0 && !is_off(s->settings.cache))
        events_complain(s->events, GLCNN_SUCCESS, "features: not kept: %s", f->reason);
}

/* Of the ONNX file that the model was imported from. */
static void describe_numbers(const glcnn_trainer *s)
{
    const struct glcnn_checkpoint_bytes *text = &s->described.bytes[SAVED_RECORD];
    struct text lines = {0};
    struct glcnn_onnx_record *record =
        text->bytes ? onnx_record_parse((const char *)text->bytes, text->size, NULL, 0) : NULL;
    if (record)
        parameters_describe_frozen(record, false, &lines);
    events_note_text(s->events, &lines);
    onnx_record_free(record);
}

static void describe_layers(const glcnn_trainer *s)
{
    const struct frozen *f = &s->frozen;
    session_note_backbone_rate(s);
    if (s->layers.trained == s->layers.count)
        return;
    events_note(s->events, "layers: %u of %u train\n", s->layers.trained, s->layers.count);
    if (s->layers.cut.count == 0)
        events_note(s->events,
                    "features: not kept, since the trained layers read the picture itself, or more "
                    "than %d frozen layers\n",
                    FEATURES_MAX);
    else if (s->rounded.network)
        events_note(s->events, "features: not kept, since the run trains for int8\n");
    else if (!f->tail.network)
        events_note(s->events, "features: not kept, because of --augment\n");
    else if (f->features)
        events_note(s->events,
                    "features: %u values of each of %u pictures, %u of them new, %.1f MiB in %s\n",
                    f->value_count, f->slot_count, f->computed,
                    (double)features_size(f->features) / 1048576,
                    f->parameters.cache ? f->parameters.cache : "a temporary file");
    else
        say_not_kept(s);
    if (f->features && !f->training.cached)
        events_note(
            s->events,
            "features: those of training pictures are computed in each step, because of --augment\n");
}

/* The schedule; of a run that goes on with another one, what it was and how far the rate jumps. */
static void describe_schedule(const glcnn_trainer *s)
{
    char text[192], old_text[192];
    struct schedule_settings old = s->settings.before,
                             now = settings_schedule(&s->settings, s->steps);
    schedule_describe(&now, text, sizeof text);
    events_note(s->events, "schedule: %s\n", text);
    if (!old.schedule)
        return;
    old.steps = now.steps;
    schedule_describe(&old, old_text, sizeof old_text);
    if (strcmp(text, old_text) == 0)
        return;
    events_note(s->events, "schedule before: %s\n", old_text);
    if (s->first > 0)
        events_note(s->events, "learning rate: %.3g in step %zu, %.3g from step %zu on\n",
                    (double)schedule_rate(&old, s->first - 1), s->first,
                    (double)schedule_rate(&now, s->first), s->first + 1);
}

/* What will run where, the memory that it takes, and where it is kept. */
static glcnn_status describe(glcnn_trainer *s)
{
    char sides[GLCNN_ERROR_LENGTH];
    struct glcnn_memory_plan m;
    const struct form *form = &s->pictures.form;
    if (!runner_memory(&s->trainer, &m))
        return session_fail_device(s);
    events_note(s->events, "device: %s\n", glcnn_device_info(s->device)->renderer);
    events_note(s->events, "data: %u images of %ux%ux%u to train with, %u to validate with, ",
                session_images(s, GLCNN_DATA_PART_TRAINING), form->width, form->height,
                form->channels, session_images(s, s->pictures.validation));
    if (s->pictures.test != s->pictures.validation)
        events_note(s->events, "%u to test with, ", session_images(s, s->pictures.test));
    events_note(s->events, "%u %s\n", form->classes, s->settings.task->classes);
    if (s->settings.task != task_at(0))
        events_note(s->events, "task: %s, %s\n", s->settings.task->name, s->settings.task->text);
    events_note(s->events, "network: %s, %zu steps of %u images an epoch", s->described.title,
                s->steps, (uint32_t)settings_step_images(&s->settings));
    if (s->settings.accumulate > 1)
        events_note(s->events, ", in %u batches of %u", (uint32_t)s->settings.accumulate,
                    (uint32_t)s->settings.batch);
    events_note(s->events, "\n");
    if (*s->settings.net_reason)
        events_note(s->events, "network: %s\n", s->settings.net_reason);
    if (s->settings.is_augment_chosen)
        events_note(s->events, "augmentation: %s; --augment none turns it off\n",
                    s->settings.augment_words);
    session_describe_sides(s, sides);
    if (*sides)
        events_note(s->events, "%s\n", sides);
    describe_numbers(s);
    describe_schedule(s);
    describe_layers(s);
    if (s->ranks.mpi)
        events_note(s->events, "ranks: %u, of which this one has %u images of each batch\n",
                    s->ranks.size, s->ranks.share);
    events_note(s->events, "memory of a step: %.1f MiB, without sharing %.1f MiB",
                (double)m.planned / 1048576, (double)m.without_sharing / 1048576);
    if (m.sub_batches > 1)
        events_note(s->events, ", %u parts a batch", m.sub_batches);
    if (settings_scale_losses(&s->settings))
        events_note(s->events, ", float16");
    if (m.recomputed)
        events_note(s->events, ", %u images recomputed", m.recomputed);
    if (m.extra_time > 0)
        events_note(s->events, ", steps about %.0f %% longer", 100 * m.extra_time);
    if (s->settings.out)
        events_note(s->events, "\ncheckpoints: %s; of the best epoch: %s\n", s->settings.out,
                    s->best_path);
    else
        events_note(s->events, "\ncheckpoints: none, the network will not be saved; give --out\n");
    session_tell_memory(s, m.planned);
    return GLCNN_SUCCESS;
}

/* Shares of a batch by how fast ranks are, now that all of them train at once. */
static glcnn_status balance(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    double speed, nothing = 0;
    if (!s->ranks.mpi || !s->settings.balances)
        return GLCNN_SUCCESS;
    glcnn_status status = session_open_device(s);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!ranks_sum(&s->ranks, &nothing, 1, error) || !session_measure(s, &speed, error) ||
        !ranks_share_batch(&s->ranks, s->ranks.batch, speed, error))
        return session_fail(s, error);
    return GLCNN_SUCCESS;
}

static bool sum_number(void *user, double *number, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_trainer *s = user;
    return ranks_sum(&s->ranks, number, 1, error);
}

glcnn_status session_join_ranks(glcnn_trainer *s)
{
    const glcnn_train_settings *t = &s->settings;
    if (!s->ranks.mpi || t->average_every > 0)
        return GLCNN_SUCCESS;
    runner_sum_with(&s->trainer, sum_number, s);
    const struct glcnn_exchange exchange =
        s->ranks.library.exchange(s->ranks.mpi, t->syncs_statistics ? s->ranks.batch : 0);
    return glcnn_graph_set_exchange(s->trainer.graph, &exchange) == GLCNN_SUCCESS
               ? GLCNN_SUCCESS
               : session_fail_device(s);
}

/* Sums of what differs would be wrong without a word. */
static glcnn_status compare_ranks(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const glcnn_train_settings *t = &s->settings;
    const uint64_t numbers[] = {
        t->batch,     t->seed,  t->epochs,           t->average_every,         s->settings.images,
        s->first,     s->steps, t->syncs_statistics, s->pictures.form.classes, t->data_digest,
        t->accumulate};
    uint64_t data = digest_add(DIGEST_START, numbers, sizeof numbers), weights = 0;
    if (!s->ranks.mpi)
        return GLCNN_SUCCESS;
    return ranks_agree(&s->ranks, data, "settings or data", error) &&
                   ranks_digest(s->model.network, &weights, error) &&
                   ranks_agree(&s->ranks, weights, "weights to begin with", error)
               ? GLCNN_SUCCESS
               : session_fail(s, error);
}

static glcnn_status claim_files(glcnn_trainer *s)
{
    name_files(s);
    name_features(s);
    return session_claim_files(s);
}

glcnn_status session_open_part(glcnn_trainer *s, bool *is_open)
{
    static glcnn_status (*const parts[])(glcnn_trainer *) = {claim_files,
                                                             session_open_data,
                                                             session_open_targets,
                                                             session_open_sides,
                                                             balance,
                                                             session_open_loaders,
                                                             allocate,
                                                             session_open_model,
                                                             session_load_checkpoint,
                                                             session_open_runners,
                                                             session_join_ranks,
                                                             compare_ranks,
                                                             describe,
                                                             session_save_first};
    *is_open = s->opened == sizeof parts / sizeof *parts;
    return *is_open ? GLCNN_SUCCESS : parts[s->opened++](s);
}

void session_end(glcnn_trainer *s)
{
    ema_end(&s->ema);
    runner_destroy(&s->trainer);
    runner_destroy(&s->tester);
    frozen_close(&s->frozen);
    model_destroy(&s->rounded);
    model_destroy(&s->model);
    free(s->ranges);
    if (!s->keeps_device)
        glcnn_device_destroy(&s->device);
    glcnn_data_loader_destroy(&s->training);
    glcnn_data_loader_destroy(&s->validation);
    saved_free(&s->base);
    class_match_free(&s->match);
    pictures_close(&s->pictures);
    train_curves_free(&s->curves);
    score_free(&s->score);
    findings_free(&s->findings);
    tallies_free(&s->tallies);
    free(s->scores);
    free(s->tests);
    free(s->losses);
    targets_free(&s->targets);
    free(s->partners);
    claims_release(&s->claims);
}
