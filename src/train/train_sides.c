/* Keypoints called left and right, of which a mirrored picture has the one where the other was. */
#include <stdio.h>
#include <stdlib.h>

#include "task/keypoint_sides.h"
#include "train_session.h"

static bool mirrors(const struct session *s)
{
    const struct glcnn_augment_geometry_parameters *g = &s->settings.augment.geometry;
    return g->flip_horizontal || g->flip_vertical;
}

/* Why none change places, which the names say: "" where they have no sides. False: not enough memory. */
static bool find(const struct session *s, uint32_t **partners, char why[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_info *info = s->pictures.info;
    return keypoint_sides(info->class_names, info->class_count, partners, why);
}

int session_open_sides(struct session *s)
{
    char why[GLCNN_ERROR_LENGTH];
    if (s->settings.task != &task_keypoints || !mirrors(s))
        return EXIT_GOOD;
    if (!find(s, &s->partners, why))
        return session_fail(s, "not enough memory");
    return *why ? complain(
                      s->command, EXIT_USAGE,
                      "--augment %s mirrors pictures, and %s: leave flip out, or rename the column",
                      s->settings.augment_words, why)
                : EXIT_GOOD;
}

static bool is_left_to_recipe(const struct session *s)
{
    return s->settings.is_augment_chosen || !s->settings.is_augment_given;
}

static uint32_t count_pairs(const struct session *s)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < s->pictures.info->class_count / 2; k++)
        count += s->partners[k] > k;
    return count;
}

void session_print_sides(const struct session *s)
{
    char why[GLCNN_ERROR_LENGTH] = "";
    uint32_t *partners = NULL;
    if (s->settings.task != &task_keypoints)
        return;
    if (s->partners && count_pairs(s) == 1)
        output("mirrored pictures: 1 pair of keypoints, called left and right, changes places\n");
    else if (s->partners)
        output("mirrored pictures: %u pairs of keypoints, called left and right, change places\n",
               count_pairs(s));
    else if (mirrors(s))
        output("mirrored pictures: no keypoint is called left or right, so none change places\n");
    else if (is_left_to_recipe(s) && find(s, &partners, why) && *why)
        output("pictures are not mirrored: %s\n", why);
    free(partners);
}
