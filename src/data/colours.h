/* Colours of masks that stand for classes. */
#ifndef GLCNN_DATA_COLOURS_H
#define GLCNN_DATA_COLOURS_H

#include <stdint.h>

#include "names.h"

#define COLOURS_MAX GLCNN_DATA_NO_CLASS /* that a mask can tell apart */

struct colours {
    uint32_t count;              /* 0: values of masks are no colours */
    uint32_t items[COLOURS_MAX]; /* red << 16 | green << 8 | blue, of each class */
    uint16_t slots[1024];        /* by a hash: the number of a colour and 1, 0: free */
};

/* Reads lines "NAME:R,G,B", what stands after a further colon left out, as CVAT's labelmap.txt has them; lines that
 * begin with # are passed over. *names is to be released, after a failure too. A class whose colour another has is
 * named in `decision`, and is none. */
glcnn_status colours_read(const char *path, struct colours *colours, struct names *names,
                          char decision[GLCNN_ERROR_LENGTH], char *error);
/* The number of a colour; GLCNN_DATA_NO_CLASS: it is none of these. */
uint8_t colours_find(const struct colours *colours, const uint8_t rgb[3]);

#endif
