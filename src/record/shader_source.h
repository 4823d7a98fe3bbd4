/* The shaders that the library carries: every file of a folder of glsl/, embedded by the build.
 *
 * glcnn_shader_sources is sorted by name and ends with a row whose name is NULL.
 */
#ifndef GLCNN_SHADER_SOURCE_H
#define GLCNN_SHADER_SOURCE_H

#include <stddef.h>

struct glcnn_shader_source {
    const char *name; /* path below glsl/: "pooling/pooling_average.comp", "lib/math.glsl" */
    const char *text; /* ends with a NUL that `length` does not count */
    size_t length;
};

extern const struct glcnn_shader_source glcnn_shader_sources[];

#endif
