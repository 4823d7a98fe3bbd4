/* Numbers of the source in other places, there and back. */
#include "reference/elements.h"

void elements_reference(const struct reference *r, element_source source, double otherwise)
{
    const struct window *w = &r->operation->window;
    const struct tensor *from = &r->images[ELEMENT_SOURCE], *to = &r->images[ELEMENT_RESULT];
    struct element at, q;
    for (uint32_t n = 0; n < to->images; n++)
        for (at.c = 0; at.c < (int32_t)to->channels; at.c++)
            for (at.y = w->y.begin; at.y < w->y.end; at.y++)
                for (at.x = w->x.begin; at.x < w->x.end; at.x++)
                    *tensor_at(to, n, (uint32_t)at.c, at.y, at.x) =
                        source(r->operation, at, &q) ? *tensor_at(from, n, (uint32_t)q.c, q.y, q.x)
                                                     : otherwise;
}

void elements_gradient_reference(const struct reference *r, element_source source)
{
    const struct window *w = &r->operation->window;
    const struct tensor *g = &r->images[ELEMENT_GRADIENT], *to = &r->images[ELEMENT_DESTINATION];
    struct element at, q;
    for (uint32_t n = 0; n < g->images; n++)
        for (at.c = 0; at.c < (int32_t)g->channels; at.c++)
            for (at.y = w->y.begin; at.y < w->y.end; at.y++)
                for (at.x = w->x.begin; at.x < w->x.end; at.x++)
                    if (source(r->operation, at, &q))
                        *tensor_at(to, n, (uint32_t)q.c, q.y, q.x) +=
                            *tensor_at(g, n, (uint32_t)at.c, at.y, at.x);
}
