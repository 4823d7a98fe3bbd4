/* The picture of the curves. */
#include "train_curves.h"

#include <math.h>

#include "plot.h"

bool train_curves_write(const struct train_curves *c, const char *measure, const char *path,
                        const char *title, char error[GLCNN_ERROR_LENGTH])
{
    const struct curve *t = &c->training, *v = &c->validation;
    const size_t measured = t->count > 0 && isnan(t->accuracy[0]) ? 0 : t->count;
    const struct plot_panel panels[] = {{"loss",
                                         {{"training", t->x, t->loss, t->count, false},
                                          {"validation", v->x, v->loss, v->count, true}}},
                                        {measure,
                                         {{"training", t->x, t->accuracy, measured, false},
                                          {"validation", v->x, v->accuracy, v->count, true}}}};
    const struct plot plot = {title, "epoch", panels, 2};
    return !path || plot_write(path, &plot, error);
}
