/* Sources of shaders as files, for whoever looks at what a driver makes of them. */
#ifndef GLCNN_SOURCE_FILE_H
#define GLCNN_SOURCE_FILE_H

#include "record/pass.h"

/* Writes KERNEL.PASS.HASH.comp into the folder of GLCNN_SHADERS, or nothing where that is not set.
 * A file that cannot be written is logged, and is the last that is tried. */
void source_file_write(struct glcnn_device *device, const struct pass *pass, const char *source,
                       uint64_t hash);

#endif
