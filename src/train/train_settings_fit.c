/* Settings of a training together: what fits together, and what the data and the task choose. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train_settings_kinds.h"

struct schedule_settings settings_schedule(const glcnn_train_settings *s, uint64_t steps)
{
    return (struct schedule_settings){.schedule = s->schedule,
                                      .rate = s->rate,
                                      .decay = s->decay,
                                      .warmup = s->warmup,
                                      .epochs = (double)s->epochs,
                                      .steps = steps};
}

bool settings_scale_losses(const glcnn_train_settings *s)
{
    return s->precision->format == GLCNN_CHANNEL_FORMAT_FLOAT16;
}

uint64_t settings_step_images(const glcnn_train_settings *s)
{
    return s->batch * s->accumulate;
}

/* Steps of more images are fewer, and their gradients less noisy: a larger rate suits them. */
static double default_rate(const glcnn_train_settings *s)
{
    const double images = fmax((double)settings_step_images(s), RECIPE_BATCH);
    return s->optimizer->rate * (s->optimizer->grows ? sqrt(images / RECIPE_BATCH) : 1);
}

void settings_fit(glcnn_train_settings *s, uint32_t images)
{
    if (!settings_are_given(s, SETTING_batch))
        s->batch = recipe_batch(images, s->accumulate);
    if (!settings_are_given(s, SETTING_epochs))
        s->epochs = recipe_epochs(images);
    if (!settings_are_given(s, SETTING_rate))
        s->rate = default_rate(s);
    s->fits_warmup = !settings_are_given(s, SETTING_warmup) && s->schedule == &schedules[0];
    if (s->fits_warmup)
        s->warmup = fmin(RECIPE_WARMUP_SHARE * (double)s->epochs, RECIPE_WARMUP_MOST);
}

void settings_fit_backbone(glcnn_train_settings *s)
{
    if (!settings_are_given(s, SETTING_backbone_rate))
        s->backbone_rate = RECIPE_BACKBONE_RATE;
}

void settings_settle_time(glcnn_train_settings *s, uint64_t epochs)
{
    const uint64_t most = settings_table[SETTING_epochs].most;
    s->epochs = epochs < most ? epochs : most;
    s->time = 0;
    s->given[SETTING_time] = false;
    if (s->fits_warmup)
        s->warmup = fmin(RECIPE_WARMUP_SHARE * (double)s->epochs, RECIPE_WARMUP_MOST);
}

void settings_fit_augment(glcnn_train_settings *s, const struct glcnn_data_info *info,
                          const struct form *form)
{
    const struct recipe_data data = {.task = s->task,
                                     .info = info,
                                     .width = form->width,
                                     .height = form->height,
                                     .channels = form->channels,
                                     .passes = (double)s->epochs,
                                     .trains_all = strcmp(s->train, "all") == 0};
    char words[RECIPE_WORDS], error[GLCNN_ERROR_LENGTH];
    if (settings_are_given(s, SETTING_augment))
        return;
    recipe_augment(&data, words);
    s->is_augment_chosen = *words && setting_set_augment(s, words, error);
}

bool settings_are_met(const glcnn_train_settings *s)
{
    const uint64_t steps = s->images / settings_step_images(s);
    return s->resume && steps > 0 && s->step / steps >= s->epochs;
}

/* ---- What fits together ---- */

/* What a file tells by itself, and what only begins a run. */
static glcnn_status check_origin(const glcnn_train_settings *s, char error[GLCNN_ERROR_LENGTH])
{
    bool sets_input = s->size.width || s->channels || s->mean || s->deviation;
    if (s->names && !s->matching)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "--names needs --load-matching");
    if (settings_keep_classes(s) && !s->model)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "--classes model needs --model");
    if (s->resume && (s->model || s->matching))
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "--model and --load-matching cannot be given with --resume");
    if (s->model && s->net)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "--net and --model cannot be given together");
    if (s->is_backbone_rate_set && !s->model && !s->matching && !s->resume)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "--backbone-lr needs --model or --load-matching: a new network has no "
                         "layers that have learned anything, and --lr is the rate of all");
    if (s->time > 0 && settings_are_given(s, SETTING_epochs))
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "--time and --epochs cannot be given together: --time chooses the epochs");
    if (s->syncs_statistics && s->average_every)
        return fail_with(
            error, GLCNN_INVALID_ARGUMENT,
            "--sync-batch-norm needs ranks that step together; with --average-every each steps "
            "by itself");
    if (sets_input && (s->resume || s->model))
        return fail_with(
            error, GLCNN_INVALID_ARGUMENT,
            "--size, --channels, --mean and --deviation cannot be given: they are those of the %s",
            s->model ? "model" : "checkpoint that is resumed");
    return GLCNN_SUCCESS;
}

/* --decay by itself selects the schedule that it is best known from. */
static glcnn_status choose_schedule(glcnn_train_settings *s, bool decays,
                                    char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_train_setting_list *names = settings_table[SETTING_schedule].list;
    if (!s->schedule)
        s->schedule = decays ? names->find("exponential") : &schedules[0];
    if (!decays || s->schedule->decays)
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_INVALID_ARGUMENT,
                     "--decay needs --schedule exponential or step; this run has %s",
                     s->schedule->name);
}

/* What fits together only once the task is known. */
static glcnn_status check_settings(const glcnn_train_settings *s, char error[GLCNN_ERROR_LENGTH])
{
    if (s->nesterov && s->optimizer->momentum == 0)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "--nesterov needs --optimizer sgd, and this run has %s: leave --nesterov "
                         "out, or add --optimizer sgd --lr 0.05",
                         s->optimizer->name);
    if (s->unfreeze_after > 0 && (strcmp(s->train, "all") == 0 || s->ema > 0))
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "--unfreeze-after needs layers that are frozen, by --train, and no --ema");
    if (s->weight_decay * s->rate >= 1)
        return fail_with(
            error, GLCNN_INVALID_ARGUMENT,
            "--weight-decay %g times the learning rate of %g is %g: a step would take all of "
            "each weight away; their product must be below 1",
            s->weight_decay, s->rate, s->weight_decay * s->rate);
    if (s->ema > 0 && s->average_every)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "--ema needs ranks that step together; with --average-every each steps by "
                         "itself");
    return GLCNN_SUCCESS;
}

glcnn_status settings_take_task(glcnn_train_settings *s, const struct task *task,
                                char error[GLCNN_ERROR_LENGTH])
{
    const char *names[SETTING_NAMES_MAX];
    size_t count = 0;
    s->task = task;
    s->loss = s->loss ? s->loss : task->losses[0].name;
    for (; count < SETTING_NAMES_MAX && task->losses[count].name; count++)
        names[count] = task->losses[count].name;
    if (!task_find_loss(task, s->loss))
        return setting_refuse_name("loss of this task", s->loss, names, count, error);
    if (!s->optimizer)
        s->optimizer = settings_table[SETTING_optimizer].list->find(RECIPE_OPTIMIZER);
    if (!settings_are_given(s, SETTING_rate))
        s->rate = s->optimizer->rate;
    if (!settings_are_given(s, SETTING_weight_decay))
        s->weight_decay = s->optimizer->weight_decay;
    return check_settings(s, error);
}

/* ---- All ---- */

static void fill_defaults(glcnn_train_settings *s)
{
    for (const struct glcnn_train_setting *row = settings_table; row->name; row++)
        if (setting_is_number(row))
            setting_fill_default(s, row);
        else if (setting_is_text(row) && !*(const char **)setting_place(s, row))
            *(const char **)setting_place(s, row) = row->fallback_text;
    if (!s->precision)
        s->precision = settings_table[SETTING_precision].list->find("float32");
}

/* Nothing is written. */
static void forget_files(glcnn_train_settings *s)
{
    for (const struct glcnn_train_setting *row = settings_table; row->name; row++)
        if (row->kind == GLCNN_TRAIN_SETTING_WRITE)
            *(const char **)setting_place(s, row) = NULL;
}

glcnn_status settings_finish(glcnn_train_settings *s, char error[GLCNN_ERROR_LENGTH])
{
    const bool decays = settings_are_given(s, SETTING_decay); /* a checkpoint gives it too */
    s->is_backbone_rate_set = settings_are_given(s, SETTING_backbone_rate);
    s->sets_share = settings_are_given(s, SETTING_validation);
    glcnn_status status = check_origin(s, error);
    if (status == GLCNN_SUCCESS && s->resume)
        status = settings_resume(s, error);
    if (status == GLCNN_SUCCESS)
        status = choose_schedule(s, decays, error);
    if (status != GLCNN_SUCCESS)
        return status;
    fill_defaults(s);
    if (s->finds_rate)
        forget_files(s);
    return GLCNN_SUCCESS;
}
