/* Arrays that grow to twice what they have. */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

#define FIRST_ROOM 16

void *array_grow(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    const size_t wanted = *room > 0 ? 2 * *room : FIRST_ROOM;
    void *grown =
        wanted > *room && wanted <= SIZE_MAX / size ? realloc(items, wanted * size) : NULL;
    if (grown)
        *room = wanted;
    return grown;
}
