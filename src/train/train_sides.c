/* Keypoints called left and right, of which a mirrored picture has the one where the other was. */
#include <stdio.h>
#include <stdlib.h>

#include "task/keypoint_sides.h"
#include "train_session.h"

static bool mirrors(const glcnn_trainer *s)
{
    const struct glcnn_augment_geometry_parameters *g = &s->settings.augment.geometry;
    return g->flip_horizontal || g->flip_vertical;
}

/* Why none change places, which the names say: "" where they have no sides. False: not enough memory. */
static bool find(const glcnn_trainer *s, uint32_t **partners, char why[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_info *info = s->pictures.info;
    return keypoint_sides(info->class_names, info->class_count, partners, why);
}

bool session_find_sides(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH])
{
    char why[GLCNN_ERROR_LENGTH] = "";
    if (!s->settings.task->has_sides || !mirrors(s))
        return true;
    if (!find(s, &s->partners, why))
        snprintf(why, sizeof why, "there is not enough memory");
    snprintf(error, GLCNN_ERROR_LENGTH,
             "--augment %.200s mirrors pictures, and %.150s: leave flip out, or rename the column",
             s->settings.augment_words, why);
    return !*why;
}

static bool is_left_to_recipe(const glcnn_trainer *s)
{
    return s->settings.is_augment_chosen || !settings_are_given(&s->settings, SETTING_augment);
}

static uint32_t count_pairs(const glcnn_trainer *s)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < s->pictures.info->class_count / 2; k++)
        count += s->partners[k] > k;
    return count;
}

void session_describe_sides(const glcnn_trainer *s, char text[GLCNN_ERROR_LENGTH])
{
    char why[GLCNN_ERROR_LENGTH] = "";
    uint32_t *partners = NULL;
    *text = 0;
    if (!s->settings.task->has_sides)
        return;
    if (s->partners && count_pairs(s) == 1)
        snprintf(text, GLCNN_ERROR_LENGTH,
                 "mirrored pictures: 1 pair of keypoints, called left and right, changes places");
    else if (s->partners)
        snprintf(text, GLCNN_ERROR_LENGTH,
                 "mirrored pictures: %u pairs of keypoints, called left and right, change places",
                 count_pairs(s));
    else if (mirrors(s))
        snprintf(text, GLCNN_ERROR_LENGTH,
                 "mirrored pictures: no keypoint is called left or right, so none change places");
    else if (is_left_to_recipe(s) && find(s, &partners, why) && *why)
        snprintf(text, GLCNN_ERROR_LENGTH, "pictures are not mirrored: %.300s", why);
    free(partners);
}
