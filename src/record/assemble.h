/* Puts shader sources together. */
#ifndef GLCNN_ASSEMBLE_H
#define GLCNN_ASSEMBLE_H

#include "record/pass.h"
#include "base/text.h"

/* The whole source of a pass: version, precision, local size, uniforms, accessors, libraries, body
 * and main. Chooses pass->local where it is 0. */
glcnn_status shader_assemble(struct glcnn_device *device, struct pass *pass, struct text *source);

/* The file below glsl/ that a line of the source comes from, in the numbers that compilers say;
 * sets *line to the number within it. */
const char *shader_file(const struct pass *pass, long *line);

#endif
