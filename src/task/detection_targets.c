/* Objects to locations. */
#include "detection_targets.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define RADIUS  1.5f  /* strides from the centre of a box */
#define LONGEST 6     /* strides of a side, unless the grid is the coarsest */
#define LEAST   0.01f /* strides to an edge */

bool detection_targets_create(const struct detection_layout *layout, uint32_t batch,
                              struct detection_targets *targets)
{
    *targets = (struct detection_targets){.layout = *layout, .batch = batch};
    bool good = true;
    for (uint32_t i = 0; i < layout->scales; i++) {
        struct detection_target *t = &targets->scales[i];
        size_t count = (size_t)batch * detection_locations(&layout->grids[i]);
        t->labels = calloc(count * layout->classes, sizeof *t->labels);
        t->label_weights = calloc(count * layout->classes, sizeof *t->label_weights);
        t->distances = calloc(count * 4, sizeof *t->distances);
        t->box_weights = calloc(count, sizeof *t->box_weights);
        good = good && t->labels && t->label_weights && t->distances && t->box_weights;
    }
    return good;
}

void detection_targets_free(struct detection_targets *targets)
{
    for (uint32_t i = 0; i < DETECTION_SCALES; i++) {
        struct detection_target *t = &targets->scales[i];
        free(t->labels);
        free(t->label_weights);
        free(t->distances);
        free(t->box_weights);
    }
    *targets = (struct detection_targets){.batch = 0};
}

/* ---- Which object a location is for ---- */

/* To the edges of a box, in strides. */
struct distances {
    float values[4];
};

static struct distances distances_to(const struct glcnn_box *box, const struct detection_grid *grid,
                                     uint32_t column, uint32_t row)
{
    float stride = (float)grid->stride;
    float x = (float)column + 0.5f, y = (float)row + 0.5f;
    return (struct distances){{x - box->left / stride, y - box->top / stride,
                               box->right / stride - x, box->bottom / stride - y}};
}

static bool is_inside(const struct distances *d)
{
    return fminf(fminf(d->values[0], d->values[1]), fminf(d->values[2], d->values[3])) > 0;
}

/* Half of the difference of opposite edges is how far the centre is. */
static bool is_near_centre(const struct distances *d)
{
    return fabsf(d->values[0] - d->values[2]) < 2 * RADIUS &&
           fabsf(d->values[1] - d->values[3]) < 2 * RADIUS;
}

/* Is the grid `scale` that for boxes of such a size? */
static bool takes_size(const struct detection_layout *layout, uint32_t scale,
                       const struct glcnn_box *box)
{
    const struct detection_grid *grids = layout->grids;
    float side = fmaxf(box->right - box->left, box->bottom - box->top);
    return (scale == 0 || side > (float)(LONGEST * grids[scale - 1].stride)) &&
           (scale + 1 == layout->scales || side <= (float)(LONGEST * grids[scale].stride));
}

static uint32_t cell_of(float centre, uint32_t stride, uint32_t count)
{
    float cell = floorf(centre / (float)stride);
    return cell < 0 ? 0 : cell < (float)count ? (uint32_t)cell : count - 1;
}

/* Is it the location next to the centre of the box? */
static bool is_at_centre(const struct detection_grid *grid, const struct glcnn_box *box,
                         uint32_t column, uint32_t row)
{
    return column == cell_of((box->left + box->right) / 2, grid->stride, grid->columns) &&
           row == cell_of((box->top + box->bottom) / 2, grid->stride, grid->rows);
}

static bool is_for(const struct detection_layout *layout, uint32_t scale,
                   const struct glcnn_box *box, uint32_t column, uint32_t row)
{
    const struct detection_grid *grid = &layout->grids[scale];
    struct distances d = distances_to(box, grid, column, row);
    return takes_size(layout, scale, box) &&
           ((is_inside(&d) && is_near_centre(&d)) || is_at_centre(grid, box, column, row));
}

/* The object that the location is for; NULL: none. */
static const struct glcnn_object *object_at(const struct detection_layout *layout, uint32_t scale,
                                            const struct objects *objects, uint32_t column,
                                            uint32_t row)
{
    const struct glcnn_object *found = NULL;
    for (uint32_t i = 0; i < objects->count; i++) {
        const struct glcnn_object *o = &objects->items[i];
        if (!o->crowd && is_for(layout, scale, &o->box, column, row) &&
            (!found || glcnn_box_area(&o->box) < glcnn_box_area(&found->box)))
            found = o;
    }
    return found;
}

static bool is_in_crowd(const struct detection_grid *grid, const struct objects *objects,
                        uint32_t column, uint32_t row)
{
    for (uint32_t i = 0; i < objects->count; i++) {
        struct distances d = distances_to(&objects->items[i].box, grid, column, row);
        if (objects->items[i].crowd && is_inside(&d))
            return true;
    }
    return false;
}

/* ---- Arrays ---- */

/* Location `at` of a target; weights are 1 and 0 until the number of positives is known. */
static bool set_location(const struct detection_layout *layout, uint32_t scale,
                         const struct objects *objects, uint32_t column, uint32_t row,
                         struct detection_target *to, size_t at)
{
    const struct detection_grid *grid = &layout->grids[scale];
    const struct glcnn_object *o = object_at(layout, scale, objects, column, row);
    float weight = o || !is_in_crowd(grid, objects, column, row) ? 1 : 0;
    for (uint32_t c = 0; c < layout->classes; c++) {
        to->labels[at * layout->classes + c] = o && o->label == c ? 1 : 0;
        to->label_weights[at * layout->classes + c] = weight;
    }
    struct distances d = {{1, 1, 1, 1}}; /* what a weight of 0 hides must be finite */
    if (o)
        d = distances_to(&o->box, grid, column, row);
    for (int i = 0; i < 4; i++)
        to->distances[at * 4 + (size_t)i] = fmaxf(d.values[i], LEAST);
    to->box_weights[at] = o ? 1 : 0;
    return o;
}

static void clear_location(const struct detection_layout *layout, struct detection_target *to,
                           size_t at)
{
    static const struct objects none = {NULL, 0};
    set_location(layout, 0, &none, 0, 0, to, at);
    for (uint32_t c = 0; c < layout->classes; c++)
        to->label_weights[at * layout->classes + c] = 0;
}

static void set_scale(struct detection_targets *targets, uint32_t scale,
                      const struct objects *pictures, uint32_t count)
{
    struct detection_target *to = &targets->scales[scale];
    const struct detection_grid *grid = &targets->layout.grids[scale];
    size_t at = 0;
    for (uint32_t n = 0; n < targets->batch; n++)
        for (uint32_t row = 0; row < grid->rows; row++)
            for (uint32_t column = 0; column < grid->columns; column++, at++) {
                if (n >= count)
                    clear_location(&targets->layout, to, at);
                else if (set_location(&targets->layout, scale, &pictures[n], column, row, to, at))
                    targets->positives++;
            }
}

static void multiply(float *values, size_t count, float factor)
{
    for (size_t i = 0; i < count; i++)
        values[i] *= factor;
}

void detection_targets_find(struct detection_targets *targets, const struct objects *pictures,
                            uint32_t count)
{
    targets->positives = 0;
    for (uint32_t i = 0; i < targets->layout.scales; i++)
        set_scale(targets, i, pictures, count);
}

void detection_targets_weigh(struct detection_targets *targets, double positives, float box_gain)
{
    const float share = positives > 0 ? 1 / (float)positives : 1;
    for (uint32_t i = 0; i < targets->layout.scales; i++) {
        struct detection_target *t = &targets->scales[i];
        size_t all = (size_t)targets->batch * detection_locations(&targets->layout.grids[i]);
        multiply(t->label_weights, all * targets->layout.classes, share);
        multiply(t->box_weights, all, box_gain * share);
    }
}

void detection_targets_set(struct detection_targets *targets, const struct objects *pictures,
                           uint32_t count, float box_gain)
{
    detection_targets_find(targets, pictures, count);
    detection_targets_weigh(targets, targets->positives, box_gain);
}
