/* Growing lists of points. */
#include "curves.h"

#include <stdlib.h>

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
