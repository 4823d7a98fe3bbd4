/* Tells how much memory this process can still have. */
#include "base/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

/* 0: not known. */
static uint64_t memory_available(void)
{
    char line[128];
    uint64_t kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && !kilobytes && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) != 1)
            kilobytes = 0;
    if (file)
        fclose(file);
    return 1024 * kilobytes;
}

static uint64_t memory_allowed(void)
{
    struct rlimit limit;
    bool known = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return known ? limit.rlim_cur : UINT64_MAX;
}

uint64_t memory_free(void)
{
    const uint64_t available = memory_available(), allowed = memory_allowed();
    return available == 0 || available > allowed ? allowed : available;
}
