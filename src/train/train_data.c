/* The pictures that glcnn train learns from, and what they make of its settings. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "task/backbone.h"
#include "base/digest.h"
#include "task/window.h"
#include "train_session.h"

/* Ranks have one network: that of the slowest kind of device among them. */
static glcnn_status choose_net(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_train_settings *t = &s->settings;
    const struct form *form = &s->pictures.form;
    glcnn_status status = GLCNN_SUCCESS;
    if (t->resume || t->model)
        return GLCNN_SUCCESS;
    s->described.net = t->net;
    if (!t->net)
        status = session_open_device(s);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!t->net) {
        double slow = glcnn_device_info(s->device)->software;
        if (!ranks_sum(&s->ranks, &slow, 1, error))
            return session_fail(s, error);
        s->described.net = recipe_net(form, slow > 0, t->net_reason);
    }
    snprintf(s->described.title, sizeof s->described.title, "%s", s->described.net->name);
    return GLCNN_SUCCESS;
}

uint32_t session_images(const glcnn_trainer *s, glcnn_data_part part)
{
    uint32_t count = s->pictures.info->counts[part];
    return s->settings.limit > 0 && s->settings.limit < count ? (uint32_t)s->settings.limit : count;
}

/* By members: what lies between them in memory is undefined. */
/* Boxes as far as they are seen: earlier checkpoints have a digest of these. */
static uint64_t add_boxes(uint64_t digest, const struct pictures *p, glcnn_data_part part,
                          uint32_t index)
{
    uint32_t count;
    const struct glcnn_data_box *boxes = glcnn_dataset_boxes(p->set, part, index, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct glcnn_data_box *b = &boxes[i];
        const float edges[4] = {fmaxf(b->left, 0), fmaxf(b->top, 0), fminf(b->right, 1),
                                fminf(b->bottom, 1)};
        if (!(edges[0] < edges[2] && edges[1] < edges[3]))
            continue;
        digest = digest_add(digest_add(digest, edges, sizeof edges), &b->label, sizeof b->label);
        digest = digest_add(digest, &b->is_crowd, sizeof b->is_crowd);
    }
    return digest;
}

static uint64_t add_part(uint64_t digest, const struct pictures *p, glcnn_data_part part)
{
    char name[DATA_PATH_MAX] = "";
    bool has_boxes = task_of(&p->form)->targets == GLCNN_DATA_TARGETS_BOXES;
    bool has_names = has_boxes || !pictures_are_table(p->info);
    digest = digest_add(digest, &p->info->counts[part], sizeof p->info->counts[part]);
    for (uint32_t i = 0; i < p->info->counts[part]; i++) {
        uint32_t label = glcnn_dataset_label(p->set, part, i);
        if (has_names)
            glcnn_dataset_name(p->set, part, i, name, sizeof name);
        digest = digest_add(digest_add(digest, name, strlen(name) + 1), &label, sizeof label);
        const float *numbers = glcnn_dataset_numbers(p->set, part, i);
        if (numbers)
            digest = digest_add(digest, numbers, p->info->class_count * sizeof *numbers);
        digest = add_boxes(digest, p, part, i);
        const uint64_t mask = glcnn_dataset_mask_digest(p->set, part, i);
        if (mask)
            digest = digest_add(digest, &mask, sizeof mask);
    }
    return digest;
}

/* Names below the path and labels, of whatever task, of what is learned from and validated with, wherever
 * it lies; images of a table have no names. Never 0. */
static uint64_t digest_data(const struct pictures *p)
{
    uint64_t digest = DIGEST_START;
    for (uint32_t k = 0; k < p->info->class_count; k++)
        digest = digest_add(digest, p->info->class_names[k], strlen(p->info->class_names[k]) + 1);
    digest = add_part(add_part(digest, p, GLCNN_DATA_PART_TRAINING), p, p->validation);
    return digest ? digest : 1;
}

/* A run goes on with the images that it began with, whatever their path is now. */
static glcnn_status check_resumed(glcnn_trainer *s)
{
    glcnn_train_settings *t = &s->settings;
    uint32_t count = session_images(s, GLCNN_DATA_PART_TRAINING);
    const uint64_t before = t->data_digest;
    t->data_digest = digest_data(&s->pictures);
    if (!t->resume)
        return GLCNN_SUCCESS;
    if (t->images != count)
        return events_complain(s->events, GLCNN_INVALID_STATE,
                               "%s: cannot be resumed: it was trained on %" PRIu64
                               " images, and %s has %u",
                               t->resume, t->images, t->data, count);
    if (before == 0 || before == t->data_digest)
        return GLCNN_SUCCESS;
    return events_complain(
        s->events, GLCNN_INVALID_STATE,
        "%s: cannot be resumed: it was trained on images other than those of %s: names, classes or "
        "labels differ; give the earlier ones with --data, or begin a new run from this network "
        "with --model",
        t->resume, t->data);
}

static glcnn_status check_net(glcnn_trainer *s)
{
    const struct net *net = s->described.net;
    const struct form *form = &s->pictures.form;
    if (!net || net_fits(net, form))
        return GLCNN_SUCCESS;
    return events_complain(
        s->events, GLCNN_INVALID_STATE,
        "pictures of %ux%u are too small for %s, which needs %ux%u; --net selects another "
        "network",
        form->width, form->height, net->name, net->least, net->least);
}

/* Reads the mean and deviation of values: as given, or else those that suit the network. */
static bool read_values(glcnn_trainer *s, uint32_t channels)
{
    const glcnn_train_settings *t = &s->settings;
    const bool centres = t->net && t->net->needs_centred && s->pictures.info->bytes;
    const char *mean = centres ? RECIPE_MEAN : "0", *deviation = centres ? RECIPE_DEVIATION : "1";
    if (centres && (!t->mean || !t->deviation))
        events_note(
            s->events, "values: --mean %s --deviation %s, since %s normalises nothing itself\n",
            t->mean ? t->mean : mean, t->deviation ? t->deviation : deviation, t->net->name);
    return saved_read_list(t->mean ? t->mean : mean, channels, NAN, s->described.mean) &&
           saved_read_list(t->deviation ? t->deviation : deviation, channels, 0,
                           s->described.deviation);
}

/* What the network sees: of the file that it comes from, or of the data and the options. */
static glcnn_status describe_input(glcnn_trainer *s)
{
    const glcnn_train_settings *t = &s->settings;
    const struct form *form = &s->pictures.form;
    s->pictures.form.loss = (uint32_t)(task_find_loss(t->task, t->loss) - t->task->losses);
    s->described = s->base;
    saved_add_trained(&s->described, NULL, 0);
    if (t->model) /* this run changes what the ranges are of */
        saved_add_ranges(&s->described, NULL);
    if (t->model && backbone_serves(&s->base.form, form))
        saved_forget(&s->described);
    s->described.form = *form;
    s->described.names = s->pictures.info->class_names;
    if (t->resume || t->model)
        return GLCNN_SUCCESS;
    if (read_values(s, form->channels))
        return GLCNN_SUCCESS;
    return events_complain(
        s->events, GLCNN_INVALID_ARGUMENT,
        "--mean and --deviation must each be one number, or %u separated by commas; deviations "
        "must be above 0",
        form->channels);
}

bool session_load(const glcnn_trainer *s, size_t step, bool labels_only, glcnn_data_loader **loader,
                  char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_loader_parameters parameters = {
        .part = GLCNN_DATA_PART_TRAINING,
        .batch = s->ranks.batch,
        .share_first = s->ranks.first,
        .share = s->ranks.share,
        .limit = (uint32_t)s->settings.limit,
        .threads = (uint32_t)s->settings.threads,
        .shuffle = true,
        .labels_only = labels_only,
        .seed = s->settings.seed,
        .group = (uint32_t)s->settings.accumulate,
        .step = step * s->settings.accumulate};
    return pictures_load(&s->pictures, &parameters, loader, error);
}

bool session_load_part(const glcnn_trainer *s, glcnn_data_part part, bool labels_only,
                       glcnn_data_loader **loader, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_loader_parameters parameters = {.part = part,
                                                            .labels_only = labels_only,
                                                            .batch = s->ranks.batch,
                                                            .share_first = s->ranks.first,
                                                            .share = s->ranks.share,
                                                            .limit = (uint32_t)s->settings.limit,
                                                            .threads =
                                                                (uint32_t)s->settings.threads};
    return pictures_load(&s->pictures, &parameters, loader, error);
}

static glcnn_status open_base(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const char *path = s->settings.resume ? s->settings.resume : s->settings.model;
    return !path || saved_read(path, &s->base, error) ? GLCNN_SUCCESS : session_fail(s, error);
}

/* That of the file, or what the data look like. */
static glcnn_status choose_task(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_train_settings *t = &s->settings;
    const struct task *task = t->task    ? t->task
                              : t->model ? task_of(&s->base.form)
                              : t->set   ? pictures_task_of(glcnn_dataset_info(t->set)->targets)
                                         : pictures_task(t->data);
    const glcnn_status status = settings_take_task(t, task, error);
    return status == GLCNN_SUCCESS
               ? GLCNN_SUCCESS
               : events_complain(s->events, GLCNN_INVALID_ARGUMENT, "%s", error);
}

/* Pictures are as the network that comes from a file has them, and classes those of `like`. */
static bool open_pictures(glcnn_trainer *s, const struct saved *like,
                          char error[GLCNN_ERROR_LENGTH])
{
    const glcnn_train_settings *t = &s->settings;
    const struct form *form = t->model ? &s->base.form : NULL;
    const bool keeps_fit = form && task_of(form) == t->task;
    const glcnn_data_fit fit = form ? (glcnn_data_fit)form->fit : GLCNN_DATA_FIT_CUT;
    const struct pictures_options options = {
        .path = t->data,
        .set = t->set,
        .task = t->task,
        .like = like,
        .width = form ? form->width : t->size.width,
        .height = form ? form->height : t->size.height,
        .resize = form ? form->resize : 0,
        .fit = t->fit      ? &t->fit->fit
               : keeps_fit ? &fit
                           : NULL,
        .channels = form ? form->channels : (uint32_t)t->channels,
        .validation = t->validation > 0 || t->sets_share ? t->validation : -1,
        .must_split = t->sets_share,
        .trains = true,
        .seed = t->seed,
        .mask_colours = t->mask_colours,
        .strict = t->strict};
    pictures_close(&s->pictures);
    return pictures_open(&options, &s->pictures, error);
}

/* Of --model: whether the data's classes, numbers or keypoints are the network's, by their names. The same in
 * another order are those of the network, whose order the data follow. */
static bool match_classes(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH])
{
    const glcnn_train_settings *t = &s->settings;
    if (!t->model || settings_keep_classes(t) || s->base.form.task != s->pictures.form.task)
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    if (!class_match_make(t->task, s->base.names, s->base.form.classes,
                          s->pictures.info->class_names, s->pictures.info->class_count, &s->match))
        return false;
    if (s->match.is_numbered)
        events_note(
            s->events,
            "classes: the network only numbers them; its 0 is the data's \"%s\", and so on\n",
            s->pictures.info->class_names[0]);
    if (!class_match_is_order(&s->match))
        return true;
    events_note(
        s->events,
        "classes: the data have the network's in another order; they are matched by name\n");
    class_match_free(&s->match);
    return open_pictures(s, &s->base, error);
}

static glcnn_status open_set(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const glcnn_train_settings *t = &s->settings;
    const bool has_classes = t->resume || settings_keep_classes(t);
    if (t->is_data_resumed)
        events_note(s->events, "data: %s, which the run began with\n", t->data);
    if (!open_pictures(s, has_classes ? &s->base : NULL, error) || !match_classes(s, error))
        return t->is_data_resumed
                   ? events_complain(
                         s->events, GLCNN_INVALID_STATE,
                         "%s; the run began with this data: give its new place with --data", error)
                   : session_fail(s, error);
    struct text text = {0};
    pictures_describe_decisions(&s->pictures, &text);
    events_note_text(s->events, &text);
    if (ranks_leads(&s->ranks)) {
        pictures_describe_skipped(&s->pictures, &text);
        events_remark_text(s->events, &text);
    } else
        pictures_pass_skipped(&s->pictures);
    return GLCNN_SUCCESS;
}

/* The first rank writes the files. What the network was trained on before counts too. */
static glcnn_status remember_pictures(glcnn_trainer *s)
{
    const struct glcnn_checkpoint_bytes *before = &s->base.bytes[SAVED_SEEN];
    struct seen earlier, *seen = &s->seen;
    *seen = (struct seen){.limit = UINT64_MAX};
    if (!ranks_leads(&s->ranks) || !s->settings.out)
        return GLCNN_SUCCESS;
    if (!seen_add(seen, &s->pictures, (uint32_t)s->settings.limit))
        return session_fail(s, "not enough memory");
    if (before->bytes && seen_read(&earlier, before->bytes, before->size))
        seen_merge(seen, &earlier);
    saved_add_seen(&s->described, s->seen_bytes, seen_write(seen, s->seen_bytes));
    return GLCNN_SUCCESS;
}

/* Has the file of --model a head that nothing of the data's is in: one for another task, of classes that only
 * have numbers, or of other names? */
static bool has_new_head(const glcnn_trainer *s)
{
    const struct class_match *match = &s->match;
    if (!s->settings.model || settings_keep_classes(&s->settings))
        return false;
    return s->base.form.task != s->pictures.form.task || match->is_numbered ||
           (match->rows && match->kept == 0);
}

/* Ranks have shares alike until somebody measures them. */
static glcnn_status fit_settings(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    settings_fit(&s->settings, session_images(s, GLCNN_DATA_PART_TRAINING));
    if (has_new_head(s))
        settings_fit_backbone(&s->settings);
    settings_fit_augment(&s->settings, s->pictures.info, &s->pictures.form);
    return ranks_share_batch(&s->ranks, (uint32_t)s->settings.batch, 1, error)
               ? GLCNN_SUCCESS
               : session_fail(s, error);
}

glcnn_status session_open_data(glcnn_trainer *s)
{
    static glcnn_status (*const parts[])(glcnn_trainer *) = {
        open_base,  choose_task, open_set,      describe_input,          fit_settings,
        choose_net, check_net,   check_resumed, session_check_learnable, remember_pictures};
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == GLCNN_SUCCESS; i++)
        status = parts[i](s);
    return status;
}

glcnn_status session_open_loaders(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    const uint32_t count = session_images(s, GLCNN_DATA_PART_TRAINING),
                   wanted = (uint32_t)settings_step_images(&s->settings);
    const bool accumulates = s->settings.accumulate > 1;
    if (count < wanted)
        return events_complain(s->events, GLCNN_INVALID_STATE,
                               "a %s of %u images is more than the %u available; lower --batch%s",
                               accumulates ? "step" : "batch", wanted, count,
                               accumulates ? " or --accumulate" : "");
    if (!session_load(s, (size_t)s->settings.step, false, &s->training, error) ||
        !session_load_part(s, s->pictures.validation, false, &s->validation, error))
        return session_fail(s, error);
    s->settings.images = count;
    s->steps = (size_t)(glcnn_data_loader_steps(s->training) / s->settings.accumulate);
    s->total = s->steps * (size_t)s->settings.epochs;
    s->first = s->step = (size_t)s->settings.step;
    s->best = s->settings.best;
    return GLCNN_SUCCESS;
}
