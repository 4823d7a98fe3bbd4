/* How pictures are fitted into the images of a network, and where they lie in them. */
#ifndef GLCNN_TASK_WINDOW_H
#define GLCNN_TASK_WINDOW_H

#include <glcnn/data.h>

#include "nets.h"

/* A way to fit pictures, of --fit and of model files. */
struct fit {
    const char *name;
    glcnn_data_fit fit;
};

/* By its name; NULL: there is none such. */
const struct fit *fit_find(const char *name);
/* Number i, which is glcnn_data_fit's; NULL beyond the last. */
const struct fit *fit_at(size_t i);

/* What the network sees of a picture of size[0] x size[1]. */
struct glcnn_data_window window_find(const struct form *form, const uint32_t size[2]);
/* A point of the network's image, in its pixels, to the picture's, and back; gives `to`, which may be the
 * same. */
void window_to_picture(const struct form *form, const struct glcnn_data_window *window,
                       const double at[2], double to[2]);
void window_to_image(const struct form *form, const struct glcnn_data_window *window,
                     const double at[2], double to[2]);

#endif
