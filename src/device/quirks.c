/* The table of quirks: what quirks.h says, driver by driver. */
#include "device/quirks.h"

#include <stddef.h>
#include <string.h>

struct quirk {
    const char *vendor, *renderer; /* parts of the driver's strings: Mesa names the same GPUs */
    size_t trait;
    const char *sentence;
};

#define TRAIT(NAME) offsetof(struct glcnn_device_traits, NAME)

static const struct quirk quirks[] = {
    {"Vivante", "Vivante", TRAIT(reads_late),
     "reads bytes after the call that gave them: they are written to mapped memory instead"},
    {"Vivante", "Vivante", TRAIT(wrong_binaries),
     "links programs of its binaries wrongly: each start compiles them again"},
    {"Imagination", "PowerVR", TRAIT(wrong_binaries),
     "says of a binary that it is linked, and crashes where it is not: each start compiles programs "
     "again"},
    {"Qualcomm", "Adreno (TM) 4", TRAIT(wrong_binaries),
     "makes other programs of its binaries: each start compiles them again"},
    {"Qualcomm", "Adreno (TM) 5", TRAIT(wrong_binaries),
     "makes other programs of its binaries: each start compiles them again"},
    {"Qualcomm", "Adreno", TRAIT(wrong_timers),
     "tells the processor's time for the GPU's: passes are timed between two waits"},
    {"ARM", "Mali", TRAIT(wrong_timers),
     "has timers that corrupt memory or crash: passes are timed between two waits"},
};

static bool has(const char *text, const char *part)
{
    return text && strstr(text, part);
}

/* ANGLE names the driver of Vulkan below it, not one of OpenGL ES. */
static bool is_of(const struct quirk *quirk, const char *vendor, const char *renderer)
{
    return has(vendor, quirk->vendor) && has(renderer, quirk->renderer) && !has(renderer, "ANGLE");
}

const struct quirk *quirk_next(const char *vendor, const char *renderer, const struct quirk *last)
{
    const struct quirk *end = quirks + sizeof quirks / sizeof *quirks;
    for (const struct quirk *quirk = last ? last + 1 : quirks; quirk < end; quirk++)
        if (is_of(quirk, vendor, renderer))
            return quirk;
    return NULL;
}

const char *quirk_sentence(const struct quirk *quirk)
{
    return quirk->sentence;
}

void quirks_apply(const char *vendor, const char *renderer, struct glcnn_device_traits *traits)
{
    const struct quirk *quirk = NULL;
    while ((quirk = quirk_next(vendor, renderer, quirk)) != NULL)
        *(bool *)(void *)((char *)traits + quirk->trait) = true;
}
