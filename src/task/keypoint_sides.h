/* Keypoints that change places where a picture is mirrored: those of which the names say left and right. */
#ifndef GLCNN_TASK_KEYPOINT_SIDES_H
#define GLCNN_TASK_KEYPOINT_SIDES_H

#include <glcnn/status.h>

#include "sides.h"

/* names: columns in pairs NAME_x,NAME_y, `count` of both. *partners: of each keypoint, to be freed; NULL where
 * no name has a side, or one has no partner: `why` is then that, a clause, "" for the former. False: not enough
 * memory. */
bool keypoint_sides(const char *const *names, uint32_t count, uint32_t **partners,
                    char why[GLCNN_ERROR_LENGTH]);

/* The name of keypoint number k, without the ending; gives `text`. */
const char *keypoint_name(const char *const *names, uint32_t k, char text[SIDES_NAME]);

#endif
