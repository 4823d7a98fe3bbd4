/* Binding and dispatching one pass, whose program and textures are there. Barriers before it and the
 * marks behind it (hazards.h) are the caller's. */
#ifndef GLCNN_DISPATCH_H
#define GLCNN_DISPATCH_H

#include "record/pass.h"

/* Binds what the pass declares, all of it: two drivers crash at a dispatch with a binding that is
 * empty. */
void dispatch_bind_resources(struct glcnn_device *device, const struct pass *pass);

/* The same with its program and its uniforms, which lie in the buffer at pass->issue.uniform_offset. */
void dispatch_bind(struct glcnn_device *device, const struct pass *pass, GLuint uniform_buffer);

/* Dispatches what is bound; adds to *count how many dispatches it took. `where`: for errors. */
glcnn_status dispatch_pass(struct glcnn_device *device, const struct pass *pass, const char *where,
                           uint32_t *count);

#endif
