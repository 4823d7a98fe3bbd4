/* Arrays by name. */
#include <stdlib.h>
#include <string.h>

#include "run/run.h"

struct named_array *bag_find(struct bag *bag, const char *name)
{
    for (size_t i = 0; i < bag->count; i++)
        if (strcmp(bag->arrays[i].name, name) == 0)
            return &bag->arrays[i];
    return NULL;
}

size_t array_count(const struct named_array *array)
{
    size_t count = 1;
    for (uint32_t i = 0; i < array->rank; i++)
        count *= array->shape[i];
    return count;
}

struct named_array *bag_add(struct bag *bag, const char *name, uint32_t rank, const uint32_t *shape)
{
    if (bag->count == BAG_ARRAYS)
        return NULL;
    struct named_array *made = &bag->arrays[bag->count];
    *made = (struct named_array){.name = name, .rank = rank};
    memcpy(made->shape, shape, rank * sizeof *shape);
    size_t count = bag->shapes_only ? 0 : array_count(made);
    made->data = calloc(count ? count : 1, sizeof *made->data);
    if (!made->data)
        return NULL;
    bag->count++;
    return made;
}

void bag_free(struct bag *bag)
{
    for (size_t i = 0; i < bag->count; i++)
        free(bag->arrays[i].data);
    bag->count = 0;
}
