/* Mistakes of vendors' own drivers that touch the library, as traits, each with a sentence for the log.
 * platform/README.md has the threads that tell of them, and of many that do not touch it. */
#ifndef GLCNN_QUIRKS_H
#define GLCNN_QUIRKS_H

#include "glcnn/device.h"

void quirks_apply(const char *vendor, const char *renderer, struct glcnn_device_traits *traits);

/* Of the quirks that the driver has the one behind `last`, which is NULL for the first; NULL behind the
 * last. "does this: and so that is done". */
struct quirk;
const struct quirk *quirk_next(const char *vendor, const char *renderer, const struct quirk *last);
const char *quirk_sentence(const struct quirk *quirk);

#endif
