/* Growing lists of points, and the picture of them. */
#include "train_curves.h"

#include <math.h>
#include <stdlib.h>

#include "plot.h"

static bool grow(double **values, size_t capacity)
{
    double *grown = realloc(*values, capacity * sizeof *grown);
    if (grown)
        *values = grown;
    return grown;
}

bool curve_add(struct curve *c, double x, double loss, double accuracy)
{
    if (c->count == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 256;
        if (!grow(&c->x, capacity) || !grow(&c->loss, capacity) || !grow(&c->accuracy, capacity))
            return false;
        c->capacity = capacity;
    }
    c->x[c->count] = x;
    c->loss[c->count] = loss;
    c->accuracy[c->count++] = accuracy;
    return true;
}

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

static void free_curve(struct curve *c)
{
    free(c->x);
    free(c->loss);
    free(c->accuracy);
}

void train_curves_free(struct train_curves *c)
{
    free_curve(&c->training);
    free_curve(&c->validation);
    *c = (struct train_curves){.training = {.count = 0}};
}
