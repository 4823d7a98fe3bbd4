/* Keeping and putting back what glcnn/device.h says that the library changes. */
#include "device/caller_state.h"

#include <stdlib.h>

#include "device/device.h"

/* As many of each as a pass can have (record/pass.h). */
#define UNITS   16
#define IMAGES  20
#define STORAGE 16

struct indexed_buffer {
    GLint name;
    GLint64 start, size; /* 0 and 0: all of it */
};

struct image_unit {
    GLint name, level, layered, layer, access, format;
};

struct caller_state {
    unsigned depth;
    GLint units, images, storages; /* that the context has, of those that the library uses */
    GLint program, active_texture;
    GLint flat[UNITS], array[UNITS], sampler[UNITS];
    struct image_unit image[IMAGES];
    struct indexed_buffer storage[STORAGE], uniform;
    GLint generic_storage, generic_uniform, copy_read, copy_write;
};

static GLint at_most(const struct gl *gl, GLenum name, GLint most)
{
    GLint value = 0;
    gl->GetIntegerv(name, &value);
    return value < most ? value : most;
}

bool caller_state_create(struct glcnn_device *device)
{
    const struct gl *gl = &device->gl;
    if (!platform_is_borrowed(device->platform))
        return true;
    struct caller_state *s = device->caller_state = calloc(1, sizeof *s);
    if (!s)
        return false;
    s->units = at_most(gl, GL_MAX_COMPUTE_TEXTURE_IMAGE_UNITS, UNITS);
    s->images = at_most(gl, GL_MAX_IMAGE_UNITS, IMAGES);
    s->storages = at_most(gl, GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS, STORAGE);
    return true;
}

/* ---- Keeping ---- */

static void keep_textures(const struct gl *gl, struct caller_state *s)
{
    gl->GetIntegerv(GL_ACTIVE_TEXTURE, &s->active_texture);
    for (GLint i = 0; i < s->units; i++) {
        gl->ActiveTexture(GL_TEXTURE0 + (GLenum)i);
        gl->GetIntegerv(GL_TEXTURE_BINDING_2D, &s->flat[i]);
        gl->GetIntegerv(GL_TEXTURE_BINDING_2D_ARRAY, &s->array[i]);
        gl->GetIntegerv(GL_SAMPLER_BINDING, &s->sampler[i]);
        gl->BindSampler((GLuint)i, 0);
    }
}

static void keep_image(const struct gl *gl, GLuint unit, struct image_unit *image)
{
    gl->GetIntegeri_v(GL_IMAGE_BINDING_NAME, unit, &image->name);
    gl->GetIntegeri_v(GL_IMAGE_BINDING_LEVEL, unit, &image->level);
    gl->GetIntegeri_v(GL_IMAGE_BINDING_LAYERED, unit, &image->layered);
    gl->GetIntegeri_v(GL_IMAGE_BINDING_LAYER, unit, &image->layer);
    gl->GetIntegeri_v(GL_IMAGE_BINDING_ACCESS, unit, &image->access);
    gl->GetIntegeri_v(GL_IMAGE_BINDING_FORMAT, unit, &image->format);
}

static void keep_buffers(const struct gl *gl, struct caller_state *s)
{
    for (GLint i = 0; i < s->storages; i++) {
        struct indexed_buffer *b = &s->storage[i];
        gl->GetIntegeri_v(GL_SHADER_STORAGE_BUFFER_BINDING, (GLuint)i, &b->name);
        gl->GetInteger64i_v(GL_SHADER_STORAGE_BUFFER_START, (GLuint)i, &b->start);
        gl->GetInteger64i_v(GL_SHADER_STORAGE_BUFFER_SIZE, (GLuint)i, &b->size);
    }
    gl->GetIntegeri_v(GL_UNIFORM_BUFFER_BINDING, 0, &s->uniform.name);
    gl->GetInteger64i_v(GL_UNIFORM_BUFFER_START, 0, &s->uniform.start);
    gl->GetInteger64i_v(GL_UNIFORM_BUFFER_SIZE, 0, &s->uniform.size);
    gl->GetIntegerv(GL_SHADER_STORAGE_BUFFER_BINDING, &s->generic_storage);
    gl->GetIntegerv(GL_UNIFORM_BUFFER_BINDING, &s->generic_uniform);
    gl->GetIntegerv(GL_COPY_READ_BUFFER_BINDING, &s->copy_read);
    gl->GetIntegerv(GL_COPY_WRITE_BUFFER_BINDING, &s->copy_write);
}

void caller_state_keep(struct glcnn_device *device)
{
    const struct gl *gl = &device->gl;
    struct caller_state *s = device->caller_state;
    if (!s || s->depth++ > 0)
        return;
    gl->GetIntegerv(GL_CURRENT_PROGRAM, &s->program);
    keep_textures(gl, s);
    for (GLint i = 0; i < s->images; i++)
        keep_image(gl, (GLuint)i, &s->image[i]);
    keep_buffers(gl, s);
}

/* ---- Putting back ---- */

static void put_back_textures(const struct gl *gl, const struct caller_state *s)
{
    for (GLint i = 0; i < s->units; i++) {
        gl->ActiveTexture(GL_TEXTURE0 + (GLenum)i);
        gl->BindTexture(GL_TEXTURE_2D, (GLuint)s->flat[i]);
        gl->BindTexture(GL_TEXTURE_2D_ARRAY, (GLuint)s->array[i]);
        gl->BindSampler((GLuint)i, (GLuint)s->sampler[i]);
    }
    gl->ActiveTexture((GLenum)s->active_texture);
}

static void put_back_indexed(const struct gl *gl, GLenum target, GLuint index,
                             const struct indexed_buffer *b)
{
    if (b->size)
        gl->BindBufferRange(target, index, (GLuint)b->name, (GLintptr)b->start,
                            (GLsizeiptr)b->size);
    else
        gl->BindBufferBase(target, index, (GLuint)b->name);
}

/* Indexed bindings set the generic ones too, so these come last. */
static void put_back_buffers(const struct gl *gl, const struct caller_state *s)
{
    for (GLint i = 0; i < s->storages; i++)
        put_back_indexed(gl, GL_SHADER_STORAGE_BUFFER, (GLuint)i, &s->storage[i]);
    put_back_indexed(gl, GL_UNIFORM_BUFFER, 0, &s->uniform);
    gl->BindBuffer(GL_SHADER_STORAGE_BUFFER, (GLuint)s->generic_storage);
    gl->BindBuffer(GL_UNIFORM_BUFFER, (GLuint)s->generic_uniform);
    gl->BindBuffer(GL_COPY_READ_BUFFER, (GLuint)s->copy_read);
    gl->BindBuffer(GL_COPY_WRITE_BUFFER, (GLuint)s->copy_write);
}

/* What passes have written into the caller's textures is there for whatever the caller does. */
void caller_state_put_back(struct glcnn_device *device)
{
    const struct gl *gl = &device->gl;
    struct caller_state *s = device->caller_state;
    if (!s || --s->depth > 0)
        return;
    gl->UseProgram((GLuint)s->program);
    put_back_textures(gl, s);
    for (GLint i = 0; i < s->images; i++) {
        const struct image_unit *image = &s->image[i];
        gl->BindImageTexture((GLuint)i, (GLuint)image->name, image->level,
                             (GLboolean)image->layered, image->layer, (GLenum)image->access,
                             (GLenum)image->format);
    }
    put_back_buffers(gl, s);
    gl->MemoryBarrier(GL_ALL_BARRIER_BITS);
}
