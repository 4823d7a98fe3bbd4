/* Limits in use: the driver's, or under GLCNN_LIMITS=min the least that OpenGL ES 3.1 allows. */
#include "device/limits.h"

#include <string.h>

#include "platform/platform.h"

/* Table 20.45 and following of the OpenGL ES 3.1 specification. */
static const struct glcnn_limits minimum = {
    .work_group_count = {65535, 65535, 65535},
    .work_group_size = {128, 128, 64},
    .work_group_invocations = 128,
    .shared_memory_size = 16384,
    .image_uniforms = 4,
    .storage_blocks = 4,
    .uniform_blocks = 12,
    .texture_units = 16,
    .texture_size = 2048,
    .array_layers = 256,
    .uniform_block_size = 16384,
    .storage_block_size = 1u << 27,
    .buffer_offset_alignment = 256,
};

static uint32_t query(const struct gl *gl, GLenum name)
{
    GLint64 value = 0;
    gl->GetInteger64v(name, &value);
    return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static uint32_t query_axis(const struct gl *gl, GLenum name, GLuint axis)
{
    GLint value = 0;
    gl->GetIntegeri_v(name, axis, &value);
    return value < 0 ? UINT32_MAX : (uint32_t)value;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void query_all(const struct gl *gl, struct glcnn_limits *limits)
{
    for (GLuint axis = 0; axis < 3; axis++) {
        limits->work_group_count[axis] = query_axis(gl, GL_MAX_COMPUTE_WORK_GROUP_COUNT, axis);
        limits->work_group_size[axis] = query_axis(gl, GL_MAX_COMPUTE_WORK_GROUP_SIZE, axis);
    }
    limits->work_group_invocations = query(gl, GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS);
    limits->shared_memory_size = query(gl, GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
    limits->image_uniforms = query(gl, GL_MAX_COMPUTE_IMAGE_UNIFORMS);
    limits->storage_blocks = query(gl, GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS);
    limits->uniform_blocks = query(gl, GL_MAX_COMPUTE_UNIFORM_BLOCKS);
    limits->texture_units = query(gl, GL_MAX_COMPUTE_TEXTURE_IMAGE_UNITS);
    limits->texture_size = query(gl, GL_MAX_TEXTURE_SIZE);
    limits->array_layers = query(gl, GL_MAX_ARRAY_TEXTURE_LAYERS);
    limits->uniform_block_size = query(gl, GL_MAX_UNIFORM_BLOCK_SIZE);
    limits->storage_block_size = query(gl, GL_MAX_SHADER_STORAGE_BLOCK_SIZE);
    limits->buffer_offset_alignment =
        larger(query(gl, GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT),
               larger(query(gl, GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT), 4));
}

void limits_read(const struct gl *gl, bool clamp, struct glcnn_limits *limits)
{
    if (clamp)
        *limits = minimum;
    else
        query_all(gl, limits);
}

bool limits_clamped_by_environment(const char **unknown)
{
    const char *value = platform_variable("GLCNN_LIMITS");
    *unknown = NULL;
    if (!value || !*value)
        return false;
    if (strcmp(value, "min") == 0)
        return true;
    *unknown = value;
    return false;
}
