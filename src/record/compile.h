/* Hands sources to the driver's compiler. */
#ifndef GLCNN_COMPILE_H
#define GLCNN_COMPILE_H

#include "record/program.h"

/* The three steps of making program->name of program->source. The first two ask the driver nothing,
 * so that one which compiles in threads of its own has all programs before it is waited for. The
 * last fails where the driver does: the message has the file and line of the first error. */
void shader_compile(struct glcnn_device *device, const struct pass *pass, struct program *program);
void shader_link(struct glcnn_device *device, struct program *program);
glcnn_status shader_finish(struct glcnn_device *device, const struct pass *pass,
                           struct program *program);

/* Tell the device's callback of a compilation. It ends with the program's first dispatch where many
 * drivers compile, which is the smoke test's; compilation_end does nothing where none has begun. */
void compilation_begin(struct glcnn_device *device, const struct pass *pass,
                       struct program *program);
void compilation_end(struct glcnn_device *device, struct program *program);

#endif
