/* Shapes with exact boxes: a box is that of the pixels that are drawn. */
#include "tests/shapes.h"

#include "tests/unit.h"

static float part(uint32_t *seed)
{
    return (float)below(seed, 10000) / 10000;
}

/* Is the point of the box, 0 to 1 along both sides, in the shape? */
static bool covers(uint32_t label, float x, float y)
{
    if (label == 1)
        return (2 * x - 1) * (2 * x - 1) + (2 * y - 1) * (2 * y - 1) <= 1;
    return label == 0 || (x >= 0.5f - y / 2 && x <= 0.5f + y / 2);
}

static void draw(struct shapes *shapes, const struct glcnn_object *o, const float color[3])
{
    const struct glcnn_box *b = &o->box;
    for (uint32_t y = (uint32_t)b->top; y < (uint32_t)b->bottom; y++)
        for (uint32_t x = (uint32_t)b->left; x < (uint32_t)b->right; x++)
            if (covers(o->label, ((float)x + 0.5f - b->left) / (b->right - b->left),
                       ((float)y + 0.5f - b->top) / (b->bottom - b->top)))
                memcpy(shapes->pixels + 3 * (y * SHAPES_SIDE + x), color, 3 * sizeof *color);
}

static struct glcnn_object place(uint32_t *seed)
{
    struct glcnn_object o = {.label = below(seed, SHAPES_CLASSES)};
    float width = (float)(14 + below(seed, 17)), height = (float)(14 + below(seed, 17));
    o.box.left = (float)below(seed, SHAPES_SIDE - (uint32_t)width + 1);
    o.box.top = (float)below(seed, SHAPES_SIDE - (uint32_t)height + 1);
    o.box.right = o.box.left + width;
    o.box.bottom = o.box.top + height;
    return o;
}

static bool stands_free(const struct shapes *shapes, const struct glcnn_object *o)
{
    for (uint32_t i = 0; i < shapes->count; i++)
        if (glcnn_box_overlap(&shapes->objects[i].box, &o->box) > 0.05)
            return false;
    return true;
}

void shapes_make(struct shapes *shapes, uint32_t *seed)
{
    uint32_t wanted = 1 + below(seed, SHAPES_MOST);
    shapes->count = 0;
    for (size_t i = 0; i < sizeof shapes->pixels / sizeof *shapes->pixels; i++)
        shapes->pixels[i] = 0.4f * part(seed);
    while (shapes->count < wanted) {
        struct glcnn_object o = place(seed);
        float color[3];
        for (int c = 0; c < 3; c++)
            color[c] = 0.5f + 0.5f * part(seed);
        if (!stands_free(shapes, &o)) {
            wanted -= below(seed, 8) == 0 && wanted > 1;
            continue;
        }
        draw(shapes, &o, color);
        shapes->objects[shapes->count++] = o;
    }
}
