/* Has one place of a program find no memory. To be preloaded, with
 *
 *   MEMORY_LOG=FILE      writes where the program asks for memory, each place once
 *   MEMORY_FAILS=OFFSET  requests from there find none
 *
 * Places in shared libraries, those of drivers too, are not the program's and always find some.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

#define PLACES_MAX 4096

static uintptr_t places[PLACES_MAX], base, first, last, fails;
static size_t count;

/* The program's text is the first mapping that can be executed. */
__attribute__((constructor)) static void begin(void)
{
    char line[512];
    unsigned long from, to;
    const char *text = getenv("MEMORY_FAILS");
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !last && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && !base)
            base = from;
        if (strstr(line, " r-xp ")) {
            first = from;
            last = to;
        }
    }
    if (maps)
        fclose(maps);
    if (text)
        fails = base + strtoul(text, NULL, 16);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("MEMORY_LOG");
    FILE *file = path ? fopen(path, "w") : NULL;
    for (size_t i = 0; file && i < count; i++)
        fprintf(file, "%lx\n", (unsigned long)(places[i] - base));
    if (file)
        fclose(file);
}

static bool finds_none(void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    size_t i = 0;
    if (at < first || at >= last)
        return false;
    while (i < count && places[i] != at)
        i++;
    if (i == count && count < PLACES_MAX)
        places[count++] = at;
    if (at != fails)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return finds_none(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    return finds_none(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
    return finds_none(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = finds_none(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}
