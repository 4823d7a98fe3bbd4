/* A remark where less memory is free than a step takes by its plan. */
#include <string.h>

#include "base/memory.h"
#include "train_session.h"

/* OpenGL ES does not tell how much memory a GPU has that has its own. */
static bool has_own_memory(const struct glcnn_device_properties *info)
{
    return !info->software && strstr(info->vendor, "NVIDIA");
}

void session_tell_memory(const glcnn_trainer *s, uint64_t planned)
{
    const uint64_t available = memory_free();
    if (!ranks_leads(&s->ranks))
        return;
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
