/* What glcnn train can learn nothing of, looked for before the first step: targets that are the same for
 * all pictures, or that none of them has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "task/detection_box.h"
#include "task/keypoint_map.h"
#include "train_session.h"

/* The number of the i-th picture that training takes, as glcnn/data.h says. */
static uint32_t picture(const glcnn_trainer *s, uint32_t i)
{
    const uint64_t all = s->pictures.info->counts[GLCNN_DATA_PART_TRAINING],
                   taken = session_images(s, GLCNN_DATA_PART_TRAINING);
    return (uint32_t)(i * all / taken);
}

static uint32_t count_pictures(const glcnn_trainer *s)
{
    return session_images(s, GLCNN_DATA_PART_TRAINING);
}

/* ---- classify ---- */

static glcnn_status check_classes(const glcnn_trainer *s)
{
    const struct pictures *p = &s->pictures;
    const uint32_t count = count_pictures(s),
                   label = glcnn_dataset_label(p->set, GLCNN_DATA_PART_TRAINING, picture(s, 0));
    for (uint32_t i = 1; i < count; i++)
        if (glcnn_dataset_label(p->set, GLCNN_DATA_PART_TRAINING, picture(s, i)) != label)
            return GLCNN_SUCCESS;
    if (label < p->info->class_count && ranks_leads(&s->ranks))
        events_complain(
            s->events, GLCNN_SUCCESS,
            "%s: all %u pictures to train with are of the class \"%.100s\": the network learns to "
            "answer nothing else",
            s->settings.data, count, p->info->class_names[label]);
    return GLCNN_SUCCESS;
}

/* ---- regress ---- */

static bool varies(const glcnn_trainer *s, uint32_t number)
{
    const struct pictures *p = &s->pictures;
    const float *first = glcnn_dataset_numbers(p->set, GLCNN_DATA_PART_TRAINING, picture(s, 0));
    for (uint32_t i = 1; i < count_pictures(s); i++) {
        const float *numbers =
            glcnn_dataset_numbers(p->set, GLCNN_DATA_PART_TRAINING, picture(s, i));
        if (numbers[number] < first[number] || numbers[number] > first[number])
            return true;
    }
    return false;
}

static glcnn_status check_numbers(const glcnn_trainer *s)
{
    const struct glcnn_data_info *info = s->pictures.info;
    uint32_t varying = 0;
    for (uint32_t k = 0; k < info->class_count; k++)
        varying += varies(s, k);
    for (uint32_t k = 0; k < info->class_count && varying > 0 && ranks_leads(&s->ranks); k++)
        if (!varies(s, k))
            events_complain(s->events, GLCNN_SUCCESS,
                            "%s: \"%.100s\" is the same number for all %u pictures to train with",
                            s->settings.data, info->class_names[k], count_pictures(s));
    if (varying > 0)
        return GLCNN_SUCCESS;
    return events_complain(
        s->events, GLCNN_INVALID_STATE,
        "%s: \"%.100s\"%s the same for all %u pictures to train with: there is nothing to "
        "learn; give the numbers of each picture, or more pictures",
        s->settings.data, info->class_names[0],
        info->class_count > 1 ? " and all other numbers are" : " is", count_pictures(s));
}

/* ---- keypoints ---- */

static bool sees(const glcnn_trainer *s, uint32_t index, uint32_t keypoint)
{
    const struct pictures *p = &s->pictures;
    uint32_t size[2];
    const float *numbers = glcnn_dataset_numbers(p->set, GLCNN_DATA_PART_TRAINING, index);
    glcnn_dataset_size(p->set, GLCNN_DATA_PART_TRAINING, index, &size[0], &size[1]);
    return keypoint_cut(&p->form, size, numbers + 2 * (size_t)keypoint).is_seen;
}

static bool is_ever_seen(const glcnn_trainer *s, uint32_t keypoint)
{
    for (uint32_t i = 0; i < count_pictures(s); i++)
        if (sees(s, picture(s, i), keypoint))
            return true;
    return false;
}

static glcnn_status check_keypoints(const glcnn_trainer *s)
{
    const struct pictures *p = &s->pictures;
    const uint32_t count = keypoint_count(&p->form);
    uint32_t seen = 0, size[2];
    for (uint32_t k = 0; k < count; k++)
        seen += is_ever_seen(s, k);
    for (uint32_t k = 0; k < count && seen > 0 && ranks_leads(&s->ranks); k++)
        if (!is_ever_seen(s, k))
            events_complain(
                s->events, GLCNN_SUCCESS,
                "%s: %.100s lies in none of the %u pictures to train with, and is not learned",
                s->settings.data, p->info->class_names[2 * k], count_pictures(s));
    if (seen > 0)
        return GLCNN_SUCCESS;
    const uint32_t first = picture(s, 0);
    const float *place = glcnn_dataset_numbers(p->set, GLCNN_DATA_PART_TRAINING, first);
    glcnn_dataset_size(p->set, GLCNN_DATA_PART_TRAINING, first, &size[0], &size[1]);
    return events_complain(
        s->events, GLCNN_INVALID_STATE,
        "%s: no keypoint lies in its picture, of %u to train with: the first is at %g,%g of "
        "a picture of %ux%u; expected pixels from the upper left corner, in the part of the picture that "
        "the network sees",
        s->settings.data, count_pictures(s), (double)place[0], (double)place[1], size[0], size[1]);
}

/* ---- detect ---- */

/* As much of the box as object_cut asks for. */
static bool is_seen(const struct glcnn_data_box *box)
{
    struct glcnn_object object = {{box->left, box->top, box->right, box->bottom}, 0, false, false};
    return object_cut(&object, &(struct glcnn_box){0, 0, 1, 1});
}

static glcnn_status check_boxes(const glcnn_trainer *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < count_pictures(s); i++) {
        const struct glcnn_data_box *boxes =
            glcnn_dataset_boxes(s->pictures.set, GLCNN_DATA_PART_TRAINING, picture(s, i), &count);
        for (uint32_t k = 0; k < count; k++)
            if (!boxes[k].is_crowd && is_seen(&boxes[k]))
                return GLCNN_SUCCESS;
    }
    return events_complain(
        s->events, GLCNN_INVALID_STATE,
        "%s: none of the %u pictures to train with has a box in the part that the network "
        "sees: there is nothing to learn; more pictures, or --fit letterbox, may have some",
        s->settings.data, count_pictures(s));
}

/* ---- All ---- */

glcnn_status session_check_learnable(glcnn_trainer *s)
{
    const struct task *task = s->settings.task;
    if (count_pictures(s) == 0)
        return GLCNN_SUCCESS;
    switch (task->targets) {
    case GLCNN_DATA_TARGETS_CLASSES:
        return check_classes(s);
    case GLCNN_DATA_TARGETS_NUMBERS:
        return task->points ? check_keypoints(s) : check_numbers(s);
    case GLCNN_DATA_TARGETS_BOXES:
        return check_boxes(s);
    default:
        return GLCNN_SUCCESS; /* masks without a class are refused when the data is opened */
    }
}
