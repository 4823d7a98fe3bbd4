/* The window of glcnn/data.h, for a form. */
#include "window.h"

#include <string.h>

static const struct fit fits[] = {{"cut", GLCNN_DATA_FIT_CUT},
                                  {"letterbox", GLCNN_DATA_FIT_LETTERBOX},
                                  {"stretch", GLCNN_DATA_FIT_STRETCH}};
enum { FITS = sizeof fits / sizeof *fits };

const struct fit *fit_find(const char *name)
{
    for (size_t i = 0; i < FITS; i++)
        if (strcmp(fits[i].name, name) == 0)
            return &fits[i];
    return NULL;
}

const struct fit *fit_at(size_t i)
{
    return i < FITS ? &fits[i] : NULL;
}

struct glcnn_data_window window_find(const struct form *form, const uint32_t size[2])
{
    struct glcnn_data_window window;
    glcnn_data_find_window(size[0], size[1],
                           &(struct glcnn_data_parameters){.width = form->width,
                                                           .height = form->height,
                                                           .resize = form->resize,
                                                           .fit = (glcnn_data_fit)form->fit},
                           &window);
    return window;
}

void window_to_picture(const struct form *form, const struct glcnn_data_window *window,
                       const double at[2], double to[2])
{
    to[0] = window->left + at[0] * window->width / form->width;
    to[1] = window->top + at[1] * window->height / form->height;
}

void window_to_image(const struct form *form, const struct glcnn_data_window *window,
                     const double at[2], double to[2])
{
    to[0] = (at[0] - window->left) * form->width / window->width;
    to[1] = (at[1] - window->top) * form->height / window->height;
}
