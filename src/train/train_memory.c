/* Whether a step has the memory that its plan takes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "train_session.h"

/* Of the machine, which a board's GPU and software compute in; 0: not known. */
static uint64_t free_memory(void)
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

static uint64_t allowed_memory(void)
{
    struct rlimit limit;
    bool known = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return known ? limit.rlim_cur : UINT64_MAX;
}

/* OpenGL ES does not tell how much memory a GPU has that has its own. */
static bool has_own_memory(const struct glcnn_device_properties *info)
{
    return !info->software && strstr(info->vendor, "NVIDIA");
}

void session_tell_memory(const glcnn_trainer *s, uint64_t planned)
{
    uint64_t available = free_memory(), allowed = allowed_memory();
    if (!ranks_leads(&s->ranks))
        return;
    if (available == 0 || available > allowed)
        available = allowed;
    if (planned <= available || has_own_memory(glcnn_device_info(s->device)))
        return;
    struct text text = {0};
    text_show(&text,
              "a step takes %.1f MiB, and %.1f MiB are free: --memory %.0fM splits it, "
              "--batch makes it smaller\n",
              (double)planned / 1048576, (double)available / 1048576,
              (double)available / 2 / 1048576);
    events_remark_text(s->events, &text);
}
