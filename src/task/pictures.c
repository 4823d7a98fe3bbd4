/* Opening data: what is not said follows from the data, or from the network that is to see it. */
#include "pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fashion.h"
#include "window.h"

#define SHARE    0.1 /* for validation, where the data has none */
#define TOLD_MAX 20  /* notes that are printed */

/* Form and classes of `like`; Fashion-MNIST alone has numbers for labels and names elsewhere. */
static struct glcnn_data_parameters parameters_of(const struct saved *like, const char *path,
                                                  glcnn_data_targets targets)
{
    if (like)
        return (struct glcnn_data_parameters){.width = like->form.width,
                                              .height = like->form.height,
                                              .resize = like->form.resize,
                                              .fit = (glcnn_data_fit)like->form.fit,
                                              .channels = like->form.channels,
                                              .class_names = like->names,
                                              .class_count = like->form.classes,
                                              .targets = targets};
    if (targets != GLCNN_DATA_TARGETS_CLASSES)
        return (struct glcnn_data_parameters){.targets = targets};
    if (strcmp(path, PICTURES_DEFAULT) == 0)
        return (struct glcnn_data_parameters){.class_names = fashion_names,
                                              .class_count = FASHION_CLASSES};
    return (struct glcnn_data_parameters){.width = 0};
}

static void describe(struct pictures *p, const struct task *task,
                     const struct glcnn_data_parameters *parameters)
{
    p->info = glcnn_dataset_info(p->set);
    p->form = (struct form){.width = p->info->width,
                            .height = p->info->height,
                            .resize = parameters->resize,
                            .fit = parameters->fit,
                            .channels = p->info->channels,
                            .classes = p->info->class_count,
                            .task = task_number(task)};
    bool validates = p->info->counts[GLCNN_DATA_PART_VALIDATION] > 0;
    bool tests = p->info->counts[GLCNN_DATA_PART_TEST] > 0;
    p->validation = GLCNN_DATA_PART_VALIDATION;
    p->test = tests       ? GLCNN_DATA_PART_TEST
              : validates ? GLCNN_DATA_PART_VALIDATION
                          : GLCNN_DATA_PART_TRAINING;
}

const struct task *pictures_task_of(glcnn_data_targets targets)
{
    size_t i = 0;
    while (task_at(i)->targets != targets || task_at(i)->is_asked_for)
        i++;
    return task_at(i);
}

const struct task *pictures_task(const char *path)
{
    return pictures_task_of(glcnn_data_guess_targets(path));
}

/* What may be wrong, where data cannot be read for a task: they are for another one. */
static void write_advice(const char *path, const struct task *task, char *text, size_t size)
{
    const struct task *other = pictures_task(path);
    if (strcmp(path, PICTURES_DEFAULT) == 0)
        snprintf(text, size,
                 "; it is in Debian's package dataset-fashion-mnist; --data selects other data");
    else if (other->targets != task->targets && other != task_at(0))
        snprintf(text, size, "; the data look like those of the task %s", other->name);
}

/* ---- Sets that the caller has opened ---- */

bool pictures_are_table(const struct glcnn_data_info *info)
{
    static const char *const tables[] = {"npz", "npy", "csv", "idx", "source"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(info->format, tables[i]) == 0 && info->targets != GLCNN_DATA_TARGETS_BOXES)
            return true;
    return strcmp(info->format, "source") == 0;
}

static bool is_asked_for(uint32_t asked, uint32_t found)
{
    return asked == 0 || asked == found;
}

/* Are its images as the network, or the user, wants them? */
static bool check_form(const struct glcnn_data_info *info,
                       const struct glcnn_data_parameters *wanted, char error[GLCNN_ERROR_LENGTH])
{
    if (!is_asked_for(wanted->width, info->width) || !is_asked_for(wanted->height, info->height) ||
        !is_asked_for(wanted->channels, info->channels)) {
        snprintf(
            error, GLCNN_ERROR_LENGTH,
            "%.200s: its images are %ux%u of %u channels, and those of the network %ux%u of %u "
            "(0: any); open the data with that size",
            info->name, info->width, info->height, info->channels, wanted->width, wanted->height,
            wanted->channels);
        return false;
    }
    if (pictures_are_table(info) || (info->fit == wanted->fit && info->resize == wanted->resize))
        return true;
    snprintf(
        error, GLCNN_ERROR_LENGTH,
        "%.200s: its pictures are brought to their size by the fit %s and a shorter side of %u, "
        "and those of the network by %s and %u; open the data with these",
        info->name, fit_at(info->fit)->name, info->resize, fit_at(wanted->fit)->name,
        wanted->resize);
    return false;
}

static bool check_names(const struct glcnn_data_info *info,
                        const struct glcnn_data_parameters *wanted, char error[GLCNN_ERROR_LENGTH])
{
    uint32_t k = 0;
    while (k < info->class_count && k < wanted->class_count &&
           strcmp(info->class_names[k], wanted->class_names[k]) == 0)
        k++;
    if (wanted->class_count == 0 || (k == info->class_count && k == wanted->class_count))
        return true;
    snprintf(
        error, GLCNN_ERROR_LENGTH,
        "%.200s: its %u names of classes are not the network's %u, in their order, from number "
        "%u on; open the data with the network's class names",
        info->name, info->class_count, wanted->class_count, k);
    return false;
}

/* Takes the caller's set. Options that are for opening data are refused, since it is open already. */
static bool take_set(const struct pictures_options *o, const struct glcnn_data_parameters *wanted,
                     struct pictures *p, char error[GLCNN_ERROR_LENGTH])
{
    char reason[GLCNN_ERROR_LENGTH];
    struct glcnn_data_parameters parameters = *wanted;
    const struct glcnn_data_info *info = glcnn_dataset_info(o->set);
    if (!o->fit && !o->like) {
        parameters.fit = info->fit;
        parameters.resize = info->resize;
    }
    if (info->targets != o->task->targets || info->class_count == 0)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.200s: its targets are not those that the task %s learns from", info->name,
                 o->task->name);
    else if (o->must_split || o->strict || o->mask_colours)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.200s: the data are open already: --validation, --strict and --mask-colours are "
                 "said when they are opened",
                 info->name);
    else if (check_form(info, &parameters, error) && check_names(info, &parameters, error)) {
        p->set = o->set;
        p->is_callers = true;
        describe(p, o->task, &parameters);
        if (!o->task->check || o->task->check(p->info, reason))
            return true;
        snprintf(error, GLCNN_ERROR_LENGTH, "%.200s: %.300s", info->name, reason);
    }
    return false;
}

static bool open_set(const struct pictures_options *o,
                     const struct glcnn_data_parameters *parameters, struct pictures *p,
                     char error[GLCNN_ERROR_LENGTH])
{
    char reason[GLCNN_ERROR_LENGTH], advice[128] = "";
    const char *path = o->path;
    const struct task *task = o->task;
    if (o->set)
        return take_set(o, parameters, p, error);
    if (glcnn_dataset_open(path, parameters, &p->set, reason) == GLCNN_SUCCESS) {
        describe(p, task, parameters);
        if (!task->check || task->check(p->info, reason))
            return true;
        snprintf(error, GLCNN_ERROR_LENGTH, "%.200s: %.300s", path, reason);
        return false;
    }
    write_advice(path, task, advice, sizeof advice);
    snprintf(error, GLCNN_ERROR_LENGTH, "%.380s%s", reason, advice);
    return false;
}

/* Nothing to validate with, of so many images and this share of them. */
static void tell_of_none(const char *path, double share, uint32_t count,
                         char error[GLCNN_ERROR_LENGTH])
{
    if (share > 0)
        snprintf(
            error, GLCNN_ERROR_LENGTH,
            "%.300s: has %u images, and a fraction of %g of them is less than one; give a larger "
            "--validation, or more images",
            path, count, share);
    else
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.300s: has no validation images, and --validation 0 sets none aside; without "
                 "--validation a tenth is",
                 path);
}

/* A share that would not be set aside. */
static bool refuse_share(const char *path, double share, uint32_t count,
                         char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH,
             "%.300s: has a validation part, of %u images, so that --validation %g sets nothing "
             "aside; leave it out, or take that part away",
             path, count, share);
    return false;
}

bool pictures_open(const struct pictures_options *o, struct pictures *p,
                   char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_data_parameters parameters = parameters_of(o->like, o->path, o->task->targets);
    *p = (struct pictures){.set = NULL};
    parameters.width = o->width ? o->width : parameters.width;
    parameters.height = o->height ? o->height : parameters.height;
    parameters.resize = o->resize ? o->resize : parameters.resize;
    parameters.fit = o->fit ? *o->fit : o->like ? parameters.fit : o->task->fit;
    parameters.resize = parameters.fit == GLCNN_DATA_FIT_CUT ? parameters.resize : 0;
    parameters.channels = o->channels ? o->channels : parameters.channels;
    parameters.validation = o->validation < 0 ? SHARE : o->validation;
    parameters.seed = o->seed;
    parameters.strict = o->strict;
    parameters.mask_colours = o->mask_colours;
    if (!open_set(o, &parameters, p, error))
        return false;
    const uint32_t *counts = p->info->counts;
    if (o->must_split && o->validation > 0 && counts[p->validation] > 0 && !p->info->is_split)
        return refuse_share(o->path, o->validation, counts[p->validation], error);
    if (!o->trains || counts[p->validation] > 0)
        return true;
    if (o->set) {
        snprintf(
            error, GLCNN_ERROR_LENGTH,
            "%.300s: has no validation images; open it with a share of its training images, or "
            "with some",
            o->path);
        return false;
    }
    tell_of_none(o->path, parameters.validation, p->info->counts[GLCNN_DATA_PART_TRAINING], error);
    return false;
}

bool pictures_open_files(const char *const *paths, uint32_t count, const struct saved *like,
                         struct pictures *p, char error[GLCNN_ERROR_LENGTH])
{
    const struct task *task = task_of(&like->form);
    const struct glcnn_data_parameters parameters =
        parameters_of(like, "", GLCNN_DATA_TARGETS_CLASSES);
    *p = (struct pictures){.set = NULL};
    if (glcnn_dataset_open_files(paths, count, &parameters, &p->set, error) != GLCNN_SUCCESS)
        return false;
    describe(p, task, &parameters);
    return true;
}

bool pictures_take_part(glcnn_dataset *set, glcnn_data_part part, const struct saved *like,
                        struct pictures *p, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_parameters parameters =
        parameters_of(like, "", GLCNN_DATA_TARGETS_CLASSES);
    *p = (struct pictures){.set = set, .is_callers = true};
    if (!glcnn_data_part_name(part)) {
        snprintf(error, GLCNN_ERROR_LENGTH, "part is %u; expected 0 to %d", (unsigned)part,
                 GLCNN_DATA_PARTS - 1);
        return false;
    }
    if (!check_form(glcnn_dataset_info(set), &parameters, error))
        return false;
    describe(p, task_of(&like->form), &parameters);
    p->test = part;
    return true;
}

void pictures_close(struct pictures *p)
{
    if (!p->is_callers)
        glcnn_dataset_destroy(&p->set);
    *p = (struct pictures){.set = NULL};
}

void pictures_describe_decisions(const struct pictures *p, struct text *text)
{
    const char *decision;
    for (uint32_t i = 0; (decision = glcnn_dataset_decision(p->set, i)); i++)
        text_show(text, "data: %s\n", decision);
}

#define KINDS_MAX 5 /* sizes that are told */

struct kind {
    uint32_t width, height, count;
};

/* What the network sees of a picture, in its pixels. */
static void find_middle(const struct form *form, const struct kind *k, double seen[2])
{
    const struct glcnn_data_window window =
        window_find(form, (const uint32_t[2]){k->width, k->height});
    seen[0] = fmin(window.width, k->width);
    seen[1] = fmin(window.height, k->height);
}

/* What is less than a pixel of the network's is rounding. */
static bool is_cut(const struct form *form, const struct kind *k)
{
    double seen[2];
    find_middle(form, k, seen);
    return k->width - seen[0] >= fmax(seen[0] / form->width, 1) ||
           k->height - seen[1] >= fmax(seen[1] / form->height, 1);
}

/* Kinds of cut pictures, KINDS_MAX of them; the last of `kinds` counts all others. */
static void count_kinds(const struct pictures *p, glcnn_data_part part,
                        struct kind kinds[KINDS_MAX + 1])
{
    for (uint32_t i = 0; i < p->info->counts[part]; i++) {
        struct kind one = {0, 0, 0};
        uint32_t k = 0;
        glcnn_dataset_size(p->set, part, i, &one.width, &one.height);
        if (one.width == 0 || one.height == 0 || !is_cut(&p->form, &one))
            continue;
        while (k < KINDS_MAX && kinds[k].count > 0 &&
               (kinds[k].width != one.width || kinds[k].height != one.height))
            k++;
        kinds[k] = (struct kind){one.width, one.height, kinds[k].count + 1};
    }
}

void pictures_describe_middle(const struct pictures *p, glcnn_data_part part, struct text *text)
{
    struct kind kinds[KINDS_MAX + 1] = {{0, 0, 0}};
    count_kinds(p, part, kinds);
    for (uint32_t k = 0; k < KINDS_MAX && kinds[k].count > 0; k++) {
        double seen[2];
        find_middle(&p->form, &kinds[k], seen);
        text_show(text, "of %u picture%s of %ux%u the network sees the middle %.0fx%.0f alone\n",
                  kinds[k].count, kinds[k].count == 1 ? "" : "s", kinds[k].width, kinds[k].height,
                  seen[0], seen[1]);
    }
    if (kinds[KINDS_MAX].count > 0)
        text_show(text, "so it does of %u pictures of other sizes\n", kinds[KINDS_MAX].count);
}

void pictures_describe_skipped(struct pictures *p, struct text *text)
{
    const char *note;
    const uint32_t last = p->passed + TOLD_MAX;
    for (; p->told < last && (note = glcnn_dataset_note(p->set, p->told)); p->told++)
        text_show(text, "left out: %s\n", note);
    if (p->told == last && glcnn_dataset_note(p->set, p->told)) {
        text_show(text, "left out: more, %u so far\n", glcnn_dataset_skipped(p->set));
        p->told++;
    }
}

void pictures_pass_skipped(struct pictures *p)
{
    while (glcnn_dataset_note(p->set, p->told))
        p->told++;
    p->passed = p->told;
}

void pictures_name(const glcnn_dataset *set, glcnn_data_part part, uint32_t index, char *name,
                   size_t size)
{
    if (!pictures_are_table(glcnn_dataset_info(set)))
        glcnn_dataset_name(set, part, index, name, size);
    else
        snprintf(name, size, "%u", index);
}

bool pictures_load(const struct pictures *p, const struct glcnn_data_loader_parameters *parameters,
                   glcnn_data_loader **loader, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_data_loader_parameters all = *parameters;
    all.interleaved = true;
    all.bytes = p->info->bytes;
    return glcnn_data_loader_create(p->set, &all, loader, error) == GLCNN_SUCCESS;
}

bool pictures_take(const struct pictures *p, const struct saved *saved,
                   const struct augment *augment, uint64_t seed, struct runner *runner)
{
    const struct input_parameters parameters = {.bytes = p->info->bytes,
                                                .mean = saved->mean,
                                                .deviation = saved->deviation,
                                                .augment = augment,
                                                .seed = seed};
    return runner_take(runner, &parameters);
}
