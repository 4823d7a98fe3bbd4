/* Arrays by name. */
#include <stdlib.h>
#include <string.h>

#include "run/run.h"

struct named_array *argument_map_find(struct argument_map *map, const char *name)
{
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->arrays[i].name, name) == 0)
            return &map->arrays[i];
    return NULL;
}

size_t array_count(const struct named_array *array)
{
    size_t count = 1;
    for (uint32_t i = 0; i < array->rank; i++)
        count *= array->shape[i];
    return count;
}

struct named_array *argument_map_add(struct argument_map *map, const char *name, uint32_t rank,
                                     const uint32_t *shape)
{
    if (map->count == MAP_ARRAYS)
        return NULL;
    struct named_array *made = &map->arrays[map->count];
    *made = (struct named_array){.name = name, .rank = rank};
    memcpy(made->shape, shape, rank * sizeof *shape);
    size_t count = map->shapes_only ? 0 : array_count(made);
    made->data = calloc(count ? count : 1, sizeof *made->data);
    if (!made->data)
        return NULL;
    map->count++;
    return made;
}

void argument_map_free(struct argument_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        free(map->arrays[i].data);
    map->count = 0;
}
