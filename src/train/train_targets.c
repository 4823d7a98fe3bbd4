/* What glcnn train teaches: the settings of its targets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train_session.h"

/* Of the pictures that train. */
static uint32_t *count_classes(const glcnn_trainer *s)
{
    const uint64_t all = s->pictures.info->counts[GLCNN_DATA_PART_TRAINING],
                   taken = session_images(s, GLCNN_DATA_PART_TRAINING);
    uint32_t *counts = calloc(s->targets.classes, sizeof *counts);
    for (uint64_t i = 0; counts && i < taken; i++) {
        uint32_t picture = (uint32_t)(i * all / taken); /* as glcnn/data.h says */
        uint32_t label = glcnn_dataset_label(s->pictures.set, GLCNN_DATA_PART_TRAINING, picture);
        if (label < s->targets.classes)
            counts[label]++;
    }
    return counts;
}

static glcnn_status balance(glcnn_trainer *s)
{
    uint32_t *counts = count_classes(s);
    bool good = counts && targets_balance(&s->targets, counts);
    free(counts);
    return good ? GLCNN_SUCCESS : session_fail(s, "not enough memory");
}

static glcnn_status read_weights(glcnn_trainer *s)
{
    const char *text = s->settings.class_weights;
    s->targets.weights = calloc(s->targets.classes, sizeof *s->targets.weights);
    if (!s->targets.weights)
        return session_fail(s, "not enough memory");
    if (saved_read_list(text, s->targets.classes, 0, s->targets.weights))
        return GLCNN_SUCCESS;
    return events_complain(
        s->events, GLCNN_INVALID_ARGUMENT,
        "--class-weights is \"%.40s\"; it must be balanced, or %u numbers above 0, "
        "one for each class, separated by commas",
        text, s->targets.classes);
}

glcnn_status session_open_targets(glcnn_trainer *s)
{
    const glcnn_train_settings *t = &s->settings;
    s->targets =
        (struct targets){.classes = s->pictures.form.classes, .smoothing = t->label_smoothing};
    if ((t->label_smoothing > 0 || strcmp(t->class_weights, "none") != 0 ||
         augment_mixes(&t->augment)) &&
        !t->task->is_one_class)
        return events_complain(
            s->events, GLCNN_INVALID_ARGUMENT,
            "--label-smoothing, --class-weights, mixup and cutmix need --task classify; "
            "this run has %s",
            t->task->name);
    if (t->augment.mosaic && !t->task->joins_pictures)
        return events_complain(s->events, GLCNN_INVALID_ARGUMENT,
                               "--augment mosaic needs --task detect; this run has %s",
                               t->task->name);
    const struct form *form = &s->pictures.form;
    if (t->augment.color.cutout >= 2 * (form->width > form->height ? form->width : form->height))
        return events_complain(
            s->events, GLCNN_INVALID_ARGUMENT,
            "--augment cutout=%u covers all of a picture of %ux%u, wherever its centre lies",
            t->augment.color.cutout, form->width, form->height);
    if (strcmp(t->class_weights, "none") == 0)
        return GLCNN_SUCCESS;
    return strcmp(t->class_weights, "balanced") == 0 ? balance(s) : read_weights(s);
}

glcnn_status session_open_sides(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    return session_find_sides(s, error)
               ? GLCNN_SUCCESS
               : events_complain(s->events, GLCNN_INVALID_ARGUMENT, "%s", error);
}

bool session_set_targets(const glcnn_trainer *s, struct runner *runner)
{
    runner->partners = s->partners;
    return (targets_are_plain(&s->targets) && !augment_mixes(&s->settings.augment)) ||
           runner_set_targets(runner, &s->targets);
}
