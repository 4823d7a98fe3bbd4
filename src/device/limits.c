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
    .output_resources = 4,
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

/* Of both kinds of buffers, the larger; 0 where the driver does not tell one of them. */
static uint32_t query_alignment(const struct gl *gl)
{
    uint32_t storage = query(gl, GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT);
    uint32_t uniform = query(gl, GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT);
    uint32_t larger = storage > uniform ? storage : uniform;
    return !storage || !uniform ? 0 : larger > 4 ? larger : 4;
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
    limits->output_resources = query(gl, GL_MAX_COMBINED_SHADER_OUTPUT_RESOURCES);
    limits->uniform_blocks = query(gl, GL_MAX_COMPUTE_UNIFORM_BLOCKS);
    limits->texture_units = query(gl, GL_MAX_COMPUTE_TEXTURE_IMAGE_UNITS);
    limits->texture_size = query(gl, GL_MAX_TEXTURE_SIZE);
    limits->array_layers = query(gl, GL_MAX_ARRAY_TEXTURE_LAYERS);
    limits->uniform_block_size = query(gl, GL_MAX_UNIFORM_BLOCK_SIZE);
    limits->storage_block_size = query(gl, GL_MAX_SHADER_STORAGE_BLOCK_SIZE);
    limits->buffer_offset_alignment = query_alignment(gl);
}

/* Every member is a uint32_t. */
static unsigned fill_untold(struct glcnn_limits *limits)
{
    uint32_t words[sizeof *limits / sizeof(uint32_t)], least[sizeof words / sizeof *words];
    unsigned untold = 0;
    memcpy(words, limits, sizeof words);
    memcpy(least, &minimum, sizeof least);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i] == 0) {
            words[i] = least[i];
            untold++;
        }
    memcpy(limits, words, sizeof words);
    return untold;
}

unsigned limits_read(const struct gl *gl, bool clamp, struct glcnn_limits *limits)
{
    GLenum code;
    *limits = minimum;
    if (clamp)
        return 0;
    query_all(gl, limits);
    unsigned untold = fill_untold(limits);
    if (limits->storage_blocks > limits->output_resources)
        limits->storage_blocks = limits->output_resources;
    if (untold > 0)
        (void)gl_error(gl, &code); /* of a name that the driver does not know */
    return untold;
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
