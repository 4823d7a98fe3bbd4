/* What glcnn train teaches: the settings of its targets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train_session.h"

/* Of the pictures that train. */
static uint32_t *count_classes(const struct session *s)
{
    const uint64_t all = s->pictures.info->counts[GLCNN_DATA_PART_TRAINING],
                   taken = session_images(s, GLCNN_DATA_PART_TRAINING);
    uint32_t *counts = calloc(s->targets.classes, sizeof *counts);
    for (uint64_t i = 0; counts && i < taken; i++) {
        uint32_t picture = (uint32_t)(i * all / taken); /* as glcnn/data.h says */
        uint32_t label = glcnn_data_set_label(s->pictures.set, GLCNN_DATA_PART_TRAINING, picture);
        if (label < s->targets.classes)
            counts[label]++;
    }
    return counts;
}

static int balance(struct session *s)
{
    uint32_t *counts = count_classes(s);
    bool good = counts && targets_balance(&s->targets, counts);
    free(counts);
    return good ? TRAIN_GOOD : session_fail(s, "not enough memory");
}

static int read_weights(struct session *s)
{
    const char *text = s->settings.class_weights;
    s->targets.weights = calloc(s->targets.classes, sizeof *s->targets.weights);
    if (!s->targets.weights)
        return session_fail(s, "not enough memory");
    if (saved_read_list(text, s->targets.classes, 0, s->targets.weights))
        return TRAIN_GOOD;
    return events_complain(
        s->events, TRAIN_WRONG,
        "--class-weights is \"%.40s\"; it must be balanced, or %u numbers above 0, "
        "one for each class, separated by commas",
        text, s->targets.classes);
}

int session_open_targets(struct session *s)
{
    const struct settings *t = &s->settings;
    s->targets =
        (struct targets){.classes = s->pictures.form.classes, .smoothing = t->label_smoothing};
    if ((t->label_smoothing > 0 || strcmp(t->class_weights, "none") != 0 ||
         augment_mixes(&t->augment)) &&
        t->task != &task_classify)
        return events_complain(
            s->events, TRAIN_WRONG,
            "--label-smoothing, --class-weights, mixup and cutmix need --task classify; "
            "this run has %s",
            t->task->name);
    if (t->augment.mosaic && t->task != &task_detect)
        return events_complain(s->events, TRAIN_WRONG,
                               "--augment mosaic needs --task detect; this run has %s",
                               t->task->name);
    const struct form *form = &s->pictures.form;
    if (t->augment.color.cutout >= 2 * (form->width > form->height ? form->width : form->height))
        return events_complain(
            s->events, TRAIN_WRONG,
            "--augment cutout=%u covers all of a picture of %ux%u, wherever its centre lies",
            t->augment.color.cutout, form->width, form->height);
    if (strcmp(t->class_weights, "none") == 0)
        return TRAIN_GOOD;
    return strcmp(t->class_weights, "balanced") == 0 ? balance(s) : read_weights(s);
}

int session_open_sides(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    return session_find_sides(s, error) ? TRAIN_GOOD
                                        : events_complain(s->events, TRAIN_WRONG, "%s", error);
}

bool session_set_targets(const struct session *s, struct runner *runner)
{
    runner->partners = s->partners;
    return (targets_are_plain(&s->targets) && !augment_mixes(&s->settings.augment)) ||
           runner_set_targets(runner, &s->targets);
}
