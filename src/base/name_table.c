/* Names and the numbers that they stand for: a table of hashes. */
#include "base/name_table.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t bits)
{
    bits *= UINT64_C(0xc6a4a7935bd1e995);
    return bits ^ bits >> 47;
}

/* As MurmurHash2: of eight bytes at a time. */
static size_t hash(const char *name)
{
    size_t left = strlen(name);
    uint64_t h = left, part;
    for (size_t taken; left > 0; left -= taken, name += taken) {
        taken = left < sizeof part ? left : sizeof part;
        part = 0;
        memcpy(&part, name, taken);
        h = mix(h ^ mix(part));
    }
    return (size_t)mix(h);
}

/* The slot that has the name, or the free one where it would be. */
static struct named *slot_of(const struct name_table *names, const char *name, size_t hashed)
{
    size_t i = hashed & (names->capacity - 1);
    while (names->slots[i].name &&
           (names->slots[i].hash != hashed || strcmp(names->slots[i].name, name) != 0))
        i = (i + 1) & (names->capacity - 1);
    return &names->slots[i];
}

size_t name_table_find(const struct name_table *names, const char *name)
{
    if (!names->capacity)
        return NO_NAME;
    const struct named *slot = slot_of(names, name, hash(name));
    return slot->name ? slot->number : NO_NAME;
}

static bool grow(struct name_table *names)
{
    struct name_table larger = {.capacity = names->capacity ? 2 * names->capacity : 64};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < names->capacity; i++)
        if (names->slots[i].name)
            *slot_of(&larger, names->slots[i].name, names->slots[i].hash) = names->slots[i];
    larger.count = names->count;
    free(names->slots);
    *names = larger;
    return true;
}

bool name_table_add(struct name_table *names, const char *name, size_t number)
{
    if (2 * (names->count + 1) > names->capacity && !grow(names))
        return false;
    const size_t hashed = hash(name);
    *slot_of(names, name, hashed) = (struct named){name, number, hashed};
    names->count++;
    return true;
}

void name_table_free(struct name_table *names)
{
    free(names->slots);
    *names = (struct name_table){0};
}

bool names_match(const char *const *known, uint32_t known_count, const char *const *names,
                 uint32_t count, uint32_t *rows)
{
    struct name_table table = {0};
    bool good = true;
    for (uint32_t k = 0; k < known_count && good; k++)
        good = name_table_find(&table, known[k]) != NO_NAME || name_table_add(&table, known[k], k);
    for (uint32_t i = 0; i < count && good; i++) {
        const size_t found = name_table_find(&table, names[i]);
        rows[i] = found == NO_NAME ? NAME_UNMATCHED : (uint32_t)found;
    }
    name_table_free(&table);
    return good;
}

/* Bytes that follow the first one of a character; -1: it is none. */
static int following(unsigned char first)
{
    return first < 0x80   ? 0
           : first < 0xc2 ? -1
           : first < 0xe0 ? 1
           : first < 0xf0 ? 2
           : first < 0xf5 ? 3
                          : -1;
}

/* Longer than it need be, half of a pair, or beyond the last. */
static bool is_left_out(unsigned char first, unsigned char second)
{
    return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
           (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
}

bool name_is_utf8(const char *name)
{
    const unsigned char *at = (const unsigned char *)name;
    while (*at) {
        int more = following(*at);
        if (more < 0 || (more && is_left_out(at[0], at[1])))
            return false;
        for (at++; more > 0; more--, at++)
            if ((*at & 0xc0) != 0x80)
                return false;
    }
    return true;
}

int name_length(const char *name, size_t most)
{
    size_t length = strnlen(name, most + 1);
    if (length <= most)
        return (int)length;
    for (length = most; length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80;)
        length--;
    return (int)length;
}
