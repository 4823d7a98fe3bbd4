/* Hands sources to the driver's compiler. */
#ifndef GLCNN_COMPILE_H
#define GLCNN_COMPILE_H

#include "record/pass.h"

/* The program of a source; 0 where the driver fails: *status and the device's sentence then say
 * why, with the file and line of the first error. */
GLuint shader_compile(struct glcnn_device *device, const struct pass *pass, const char *source,
                      glcnn_status *status);

/* Tell the device's callback of a compilation. It ends with the program's first dispatch where many
 * drivers compile; compilation_end does nothing where none has begun. */
void compilation_begin(struct glcnn_device *device, const struct pass *pass);
void compilation_end(struct glcnn_device *device);

#endif
