/* Passes that run at once, outside of any command buffer: no kernel's, but what the library needs
 * besides. */
#ifndef GLCNN_RUN_ONCE_H
#define GLCNN_RUN_ONCE_H

#include "record/pass.h"

/* Uploads the uniforms of a pass that has its program, and runs it behind what it depends on. */
glcnn_status pass_run(struct glcnn_device *device, const struct pass *pass, const char *where);
/* Finds its program first. */
glcnn_status pass_run_once(struct glcnn_device *device, struct pass *pass, const char *where);

/* Describes what sets all of a storage to 0. */
void fill_describe(struct storage *storage, struct pass *pass);

#endif
