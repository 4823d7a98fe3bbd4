/* Names that speak of left and right: left_eye, EyeRight, l_hand, hand-r. What they name changes places with
 * what is called so on the other side where a picture is mirrored. */
#ifndef GLCNN_TASK_SIDES_H
#define GLCNN_TASK_SIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIDES_NAME 256

enum side { SIDE_NONE, SIDE_LEFT, SIDE_RIGHT };

/* The side that a name has the word of, whatever its case, between separators, digits or capitals; the words l
 * and r, which are between separators, count where neither left nor right is there. */
enum side side_of(const char *name);
/* Does the character separate words of a name? */
bool side_separates(char c);

/* Writes for each name the number of the one that it changes places with: its own where it has no side. */
enum sides {
    SIDES_NONE,   /* no name has one */
    SIDES_PAIRED, /* each name that has one has a partner of its own */
    SIDES_LONE    /* *lone has none */
};
enum sides sides_find(const char (*names)[SIDES_NAME], uint32_t count, uint32_t *partners,
                      uint32_t *lone);

#endif
