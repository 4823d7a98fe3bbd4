/* Rows of a mosaic are those of two pictures, one behind the other. */
#include "mosaic.h"

#include <stdlib.h>
#include <string.h>

#include "augment.h"
#include "base/random.h"

bool mosaic_begin(uint64_t seed, uint32_t width, uint32_t height, size_t pixel, uint32_t batch,
                  struct mosaic *mosaic)
{
    *mosaic = (struct mosaic){
        .seed = seed, .width = width, .height = height, .batch = batch, .pixel = pixel};
    mosaic->joints = calloc(batch, sizeof *mosaic->joints);
    mosaic->pictures = malloc((size_t)width * height * pixel * batch);
    return mosaic->joints && mosaic->pictures;
}

void mosaic_end(struct mosaic *mosaic)
{
    free(mosaic->joints);
    free(mosaic->pictures);
    *mosaic = (struct mosaic){.batch = 0};
}

/* ---- What is drawn ---- */

static uint32_t below(uint32_t count, uint64_t *random)
{
    return (uint32_t)((random_next(random) >> 32) * count >> 32);
}

/* A quarter to three quarters of the size. */
static uint32_t between(uint32_t size, uint64_t *random)
{
    const uint32_t margin = size / 4;
    return margin + below(size - 2 * margin + 1, random);
}

static void draw(struct mosaic *m, const struct glcnn_data_batch *batch, uint32_t n)
{
    uint64_t random = augment_random(m->seed, batch->epoch, batch->indices[n]);
    struct mosaic_joint *joint = &m->joints[n];
    joint->x = between(m->width, &random);
    joint->y = between(m->height, &random);
    for (int part = 0; part < MOSAIC_PARTS; part++)
        joint->pictures[part] = below(m->batch, &random);
    joint->pictures[below(MOSAIC_PARTS, &random)] = n;
}

/* ---- Pixels ---- */

/* What is shown of a part: its first pixel in the mosaic, by how much its pixels move, and how many there
 * are. */
struct view {
    int64_t x, y, dx, dy;
    uint32_t width, height;
};

static struct view view_of(const struct mosaic *m, const struct mosaic_joint *joint, int part)
{
    const bool right = part & 1, bottom = part & 2;
    return (struct view){.x = right ? joint->x : 0,
                         .y = bottom ? joint->y : 0,
                         .dx = (int64_t)joint->x - (right ? 0 : m->width),
                         .dy = (int64_t)joint->y - (bottom ? 0 : m->height),
                         .width = right ? m->width - joint->x : joint->x,
                         .height = bottom ? m->height - joint->y : joint->y};
}

static void copy_part(const struct mosaic *m, const struct view *v, const char *from, char *to)
{
    const size_t row = m->width * m->pixel;
    for (int64_t y = v->y; y < v->y + v->height; y++)
        memcpy(to + (size_t)y * row + (size_t)v->x * m->pixel,
               from + (size_t)(y - v->dy) * row + (size_t)(v->x - v->dx) * m->pixel,
               v->width * m->pixel);
}

const void *mosaic_join(struct mosaic *m, const struct glcnn_data_batch *batch,
                        const void *pictures)
{
    const size_t size = (size_t)m->width * m->height * m->pixel;
    for (uint32_t n = 0; n < m->batch; n++) {
        draw(m, batch, n);
        for (int part = 0; part < MOSAIC_PARTS; part++) {
            const struct view v = view_of(m, &m->joints[n], part);
            copy_part(m, &v, (const char *)pictures + m->joints[n].pictures[part] * size,
                      m->pictures + n * size);
        }
    }
    return m->pictures;
}

/* ---- Objects ---- */

uint32_t mosaic_objects(const struct mosaic *m, uint32_t n, int part, struct glcnn_object *objects,
                        uint32_t count)
{
    const struct view v = view_of(m, &m->joints[n], part);
    const struct glcnn_box shown = {(float)v.x, (float)v.y, (float)(v.x + v.width),
                                    (float)(v.y + v.height)};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct glcnn_object o = objects[i];
        o.box = (struct glcnn_box){o.box.left + (float)v.dx, o.box.top + (float)v.dy,
                                   o.box.right + (float)v.dx, o.box.bottom + (float)v.dy};
        if (object_cut(&o, &shown))
            objects[kept++] = o;
    }
    return kept;
}
